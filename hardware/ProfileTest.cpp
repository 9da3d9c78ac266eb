//===- ProfileTest.cpp - the shipped profiles, and mistakes -----------------------------------===//

#include "hardware/Profile.h"

#include "support/Json.h"
#include "support/TestFolder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

using namespace conquer;
using testing::HasSubstr;

namespace {

/// Reads a profile of the tree with one piece of its text replaced.
Result<Profile> readChanged(const std::string &from, const std::string &to) {
  std::ifstream stream(CONQUER_PROFILES "/x86-64.json");
  std::string text((std::istreambuf_iterator<char>(stream)), {});
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  TestFolder folder;
  std::string path = folder.path("changed.json");
  std::ofstream(path) << text;
  return readProfile(path);
}

TEST(Profile, ReadsEveryProfileOfTheTree) {
  size_t count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(CONQUER_PROFILES)) {
    std::string name = entry.path().stem();
    Result<Profile> profile = loadProfile(name, CONQUER_PROFILES);
    ASSERT_TRUE(profile) << profile.error().message();
    EXPECT_EQ(profile->name, name);
    // IREE computes i8 wrongly on SPIR-V.
    EXPECT_EQ(profile->allows("conv2d", Precision::I8), profile->driver != Driver::Vulkan);
    EXPECT_FALSE(profile->usesKernel("conv2d", Precision::F32));
    EXPECT_FALSE(profile->allows("matmul", Precision::I8));
    EXPECT_EQ(profile->usesKernel("conv2d", Precision::I8), profile->driver == Driver::Local);
    for (Precision precision : profile->precisionsOf("conv2d"))
      EXPECT_GT(profile->peak.count(precision), 0u) << name << precisionName(precision);
    ++count;
  }
  EXPECT_GE(count, 9u);
}

TEST(Profile, DevicesOfOtherKinds) {
  Result<Profile> phone = loadProfile("snapdragon-cpu", CONQUER_PROFILES);
  ASSERT_TRUE(phone);
  EXPECT_EQ(phone->arch, "aarch64");
  EXPECT_TRUE(phone->usesKernel("depthwise_conv2d", Precision::W4A8));
  Result<Profile> npu = loadProfile("npu-integer", CONQUER_PROFILES);
  ASSERT_TRUE(npu);
  EXPECT_EQ(npu->driver, Driver::None);
  EXPECT_EQ(npu->requant, Requant::Integer);
  EXPECT_THAT(npu->precisionsOf("conv2d"),
              testing::ElementsAre(Precision::F32, Precision::I8, Precision::W8A16));
}

TEST(Profile, ReaderAndSchemaKnowTheSameFields) {
  Result<nlohmann::ordered_json> schema =
      readJsonFile(CONQUER_PROFILES "/../schema/profile.schema.json");
  Result<nlohmann::ordered_json> profile = readJsonFile(CONQUER_PROFILES "/x86-64.json");
  ASSERT_TRUE(schema && profile);
  std::set<std::string> inSchema, inProfile;
  for (const auto &item : (*schema)["properties"].items())
    inSchema.insert(item.key());
  // Every field of this file was read and none is missing, or readProfile would have refused it.
  for (const auto &item : profile->items())
    inProfile.insert(item.key());
  EXPECT_EQ(inSchema, inProfile);
}

TEST(Profile, TextRoundTrips) {
  Result<Profile> profile = loadProfile("epyc-zen4", CONQUER_PROFILES);
  ASSERT_TRUE(profile);
  TestFolder folder;
  std::string path = folder.path("copy.json");
  std::ofstream(path) << profile->toJson();
  Result<Profile> copy = readProfile(path);
  ASSERT_TRUE(copy) << copy.error().message();
  EXPECT_EQ(copy->toJson(), profile->toJson());
}

TEST(Profile, HostIsTheMostDemandingOneThatFits) {
  Result<Profile> host = loadProfile("host", CONQUER_PROFILES);
  ASSERT_TRUE(host) << host.error().message();
  EXPECT_EQ(host->name, "host");
  EXPECT_THAT(missingFeatures(*host), testing::IsEmpty());
  EXPECT_THAT(host->ireeFlags, testing::Contains("--iree-llvmcpu-target-cpu=host"));
}

TEST(Profile, NamesTheFieldOfAMistake) {
  auto message = [](const std::string &from, const std::string &to) {
    Result<Profile> profile = readChanged(from, to);
    return profile ? "" : profile.error().message();
  };
  EXPECT_THAT(
      message("\"i8\": \"kernel\"", "\"i3\": \"kernel\""),
      HasSubstr(
          "ops.conv2d.i3: unknown precision; expected one of f32, bf16, f16, i8, w4a8, w8a16"));
  EXPECT_THAT(message("\"i8\": \"kernel\"", "\"i8\": \"magic\""),
              HasSubstr("ops.conv2d.i8: is 'magic'"));
  EXPECT_THAT(message("\"w4a8\": \"kernel\"", "\"w4a8\": \"iree\""),
              HasSubstr("ops.conv2d.w4a8: is 'iree'; expected 'kernel' or 'tosa'"));
  EXPECT_THAT(message("\"portable\"", "\"none\""), HasSubstr("ops.conv2d.bf16: is 'kernel'"));
  EXPECT_THAT(message("\"f32\": \"iree\"", "\"f32\": \"tosa\""),
              HasSubstr("ops.conv2d.f32: is 'tosa'; expected 'tosa' where the driver is 'none'"));
  EXPECT_THAT(message("\"local\"", "\"cuda\""), HasSubstr("is 'kernel'"));
  EXPECT_THAT(message("\"local\"", "\"metal\""),
              HasSubstr("driver: is 'metal'; expected 'local', 'vulkan', 'cuda', 'hip' or 'none'"));
  EXPECT_THAT(message("\"x86_64\"", "\"gpu\""), HasSubstr("driver: is 'local'"));
  EXPECT_THAT(message("\"bandwidth_gbps\": 16", "\"bandwidth_gbps\": 0"),
              HasSubstr("bandwidth_gbps: is 0"));
  EXPECT_THAT(message("\"threads\": 1", "\"threads\": 0"), HasSubstr("threads: is 0"));
  EXPECT_THAT(message("\"threads\"", "\"treads\""), HasSubstr("threads: missing field"));
  EXPECT_THAT(message("\"x86_64\"", "\"z80\""), HasSubstr("arch: is 'z80'"));
  EXPECT_THAT(message("\"arch\"", "\"colour\": \"red\", \"arch\""),
              HasSubstr("colour: unknown field"));
  EXPECT_THAT(message("\"f32\": \"iree\", ", ""), HasSubstr("ops.conv2d: lacks f32"));
  EXPECT_THAT(message("\"conv2d\"", "\"conv9d\""), HasSubstr("ops.conv9d: unknown kind of op"));
  EXPECT_THAT(message("\"float32\"", "\"float33\""), HasSubstr("requant: is 'float33'"));
}

TEST(Profile, RefusesUnknownNames) {
  EXPECT_THAT(loadProfile("no-such", CONQUER_PROFILES).error().message(),
              HasSubstr("unknown profile 'no-such'"));
  EXPECT_FALSE(loadProfile("../x86-64", CONQUER_PROFILES));
  EXPECT_THAT(loadProfile("host", "/nonexistent").error().message(),
              HasSubstr("cannot list profiles"));
}

} // namespace
