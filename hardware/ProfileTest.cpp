//===- ProfileTest.cpp - the shipped profiles, and mistakes -----------------------------------===//

#include "hardware/Profile.h"

#include "support/Json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <fstream>

using namespace conquer;
using testing::HasSubstr;

namespace {

/// The text of a profile of the tree with one piece replaced, as a file of its own.
std::string changedProfile(const std::string &from, const std::string &to) {
  std::ifstream stream(CONQUER_PROFILES "/x86-64.json");
  std::string text((std::istreambuf_iterator<char>(stream)), {});
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  std::string path = testing::TempDir() + "changed_profile.json";
  std::ofstream(path) << text;
  return path;
}

TEST(Profile, ReadsEveryProfileOfTheTree) {
  for (const char *name : {"x86-64", "epyc-avx512vnni"}) {
    Result<Profile> profile = loadProfile(name, CONQUER_PROFILES);
    ASSERT_TRUE(profile) << profile.error().message();
    EXPECT_EQ(profile->name, name);
    EXPECT_TRUE(profile->allows("conv2d", Precision::I8));
    EXPECT_TRUE(profile->usesKernel("conv2d", Precision::I8));
    EXPECT_FALSE(profile->usesKernel("conv2d", Precision::F32));
    EXPECT_FALSE(profile->allows("matmul", Precision::I8));
    EXPECT_THAT(profile->precisionsOf("conv2d"),
                testing::ElementsAre(Precision::F32, Precision::I8));
  }
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
  Result<Profile> profile = loadProfile("epyc-avx512vnni", CONQUER_PROFILES);
  ASSERT_TRUE(profile);
  std::string path = testing::TempDir() + "profile_copy.json";
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
    Result<Profile> profile = readProfile(changedProfile(from, to));
    return profile ? "" : profile.error().message();
  };
  EXPECT_THAT(
      message("\"i8\": \"kernel\"", "\"i3\": \"kernel\""),
      HasSubstr(
          "ops.conv2d.i3: unknown precision; expected one of f32, bf16, f16, i8, w4a8, w8a16"));
  EXPECT_THAT(message("\"i8\": \"kernel\"", "\"i8\": \"magic\""),
              HasSubstr("ops.conv2d.i8: is 'magic'"));
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
