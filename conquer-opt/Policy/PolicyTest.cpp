//===- PolicyTest.cpp - policy.json and its checks --------------------------------------------===//

#include "conquer-opt/Policy/Policy.h"

#include <gmock/gmock.h>

#include <fstream>

namespace conquer {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::vector<PolicyLayer> layers = {{"/a/Conv", "conv2d", {Precision::F32, Precision::I8}},
                                         {"fc#2", "matmul", {Precision::F32}}};

std::string check(const Policy &policy) {
  Status status = checkPolicy(policy, layers, "toy", "p.json");
  return status ? "" : status.error().message();
}

/// Reads the text as a file.
Result<Policy> read(const std::string &text) {
  std::string path = testing::TempDir() + "p.json";
  std::ofstream(path) << text;
  return readPolicy(path);
}

std::string parseError(const std::string &text) {
  Result<Policy> policy = read(text);
  return policy ? "" : policy.error().message();
}

TEST(Policy, IsRead) {
  Result<Policy> policy = read(R"({"format": "conquer.policy", "version": 1,
                                   "layers": {"/a/Conv": "i8", "fc#2": "f32"}})");
  ASSERT_TRUE(policy) << policy.error().message();
  EXPECT_EQ(policy->layers, (std::map<std::string, Precision>{{"/a/Conv", Precision::I8},
                                                              {"fc#2", Precision::F32}}));
}

TEST(Policy, ParseErrorsNameTheField) {
  EXPECT_THAT(parseError("{"), HasSubstr("p.json"));
  EXPECT_THAT(parseError(R"({"format": "conquer.policy", "version": 1})"), HasSubstr("layers"));
  EXPECT_THAT(
      parseError(R"({"format": "conquer.policy", "version": 1, "layers": {"/a/Conv": "i3"}})"),
      AllOf(HasSubstr("layers./a/Conv"), HasSubstr("'i3'"),
            HasSubstr("one of f32, bf16, f16, i8, w4a8, w8a16")));
  EXPECT_THAT(parseError(R"({"format": "conquer.policy", "version": 1, "layers": {"x": 8}})"),
              HasSubstr("layers.x"));
  EXPECT_THAT(parseError(R"({"format": "conquer.layers", "version": 1, "layers": {}})"),
              HasSubstr("format"));
  EXPECT_FALSE(readPolicy("/nonexistent/p.json"));
}

TEST(Policy, CheckNamesTheLayer) {
  EXPECT_EQ(check({{{"/a/Conv", Precision::I8}, {"fc#2", Precision::F32}}}), "");
  EXPECT_THAT(
      check({{{"/a/Conv", Precision::I8}, {"fc#2", Precision::F32}, {"fc#3", Precision::F32}}}),
      AllOf(HasSubstr("unknown layer id"), HasSubstr("layers.fc#3")));
  EXPECT_THAT(check({{{"/a/Conv", Precision::I8}}}), HasSubstr("missing layer 'fc#2'"));
  EXPECT_THAT(check({{{"/a/Conv", Precision::F32}, {"fc#2", Precision::I8}}}),
              AllOf(HasSubstr("layers.fc#2"), HasSubstr("matmul cannot run in i8"),
                    HasSubstr("'toy'"), HasSubstr("one of f32")));
}

} // namespace
} // namespace conquer
