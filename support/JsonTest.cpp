//===- JsonTest.cpp - fields read, mistakes named ---------------------------------------------===//

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

/// The message that reading `text` with `read` ends in; empty if it went well.
template <typename Read> std::string messageOf(const std::string &text, Read read) {
  auto json = parseJson(text, "f.json");
  if (!json)
    return json.error().message();
  JsonReader reader(*json, "f.json");
  read(reader);
  Status status = reader.status();
  return status ? "" : status.error().message();
}

TEST(Json, ReadsFieldsOfEveryKind) {
  EXPECT_EQ(messageOf(R"({"s": "x", "i": 3, "d": 2.5, "b": true, "v": [1, 2], "o": {"k": 1}})",
                      [](JsonReader &r) {
                        EXPECT_EQ(r.string("s"), "x");
                        EXPECT_EQ(r.integer("i"), 3);
                        EXPECT_EQ(r.number("d"), 2.5);
                        EXPECT_TRUE(r.boolean("b"));
                        EXPECT_THAT(r.integers("v"), testing::ElementsAre(1, 2));
                        EXPECT_EQ(r.object("o").integer("k"), 1);
                        r.finish();
                      }),
            "");
}

TEST(Json, NamesThePathOfAMistake) {
  auto read = [](JsonReader &r) {
    for (JsonReader &layer : r.objects("layers")) {
      layer.integer("stride");
      layer.finish();
    }
  };
  EXPECT_THAT(messageOf(R"({"layers": [{"stride": 1}, {"stride": "two"}]})", read),
              HasSubstr("f.json: layers[1].stride: is \"two\"; expected an integer"));
  EXPECT_THAT(messageOf(R"({"layers": [{"stride": 1, "colour": 2}]})", read),
              HasSubstr("layers[0].colour: unknown field"));
  EXPECT_THAT(messageOf(R"({"layers": [{}]})", read), HasSubstr("layers[0].stride: missing field"));
  EXPECT_THAT(messageOf(R"({"layers": 3})", read),
              HasSubstr("layers: is number; expected an array"));
  EXPECT_THAT(
      messageOf(R"({"v": [1, 18446744073709551615]})", [](JsonReader &r) { r.integers("v"); }),
      HasSubstr("v[1]: is 18446744073709551615; expected an integer"));
  EXPECT_THAT(messageOf(R"([1])", read), HasSubstr("f.json: is array; expected an object"));
}

TEST(Json, RefusesWhatIsNotJson) {
  auto nothing = [](JsonReader &) {};
  EXPECT_THAT(messageOf("{\"a\": ", nothing), HasSubstr("not valid JSON"));
  EXPECT_THAT(messageOf(std::string(100000, '['), nothing), HasSubstr("nested too deeply"));
  EXPECT_THAT(messageOf(R"({"a": 1e999})", [](JsonReader &r) { r.number("a"); }),
              HasSubstr("f.json"));
  EXPECT_THAT(messageOf(R"({"a": 18446744073709551615})", [](JsonReader &r) { r.integer("a"); }),
              HasSubstr("an integer"));
}

TEST(Json, ChecksFormatAndVersion) {
  auto read = [](JsonReader &r) { r.header("conquer.policy"); };
  EXPECT_EQ(messageOf(R"({"format": "conquer.policy", "version": 1})", read), "");
  EXPECT_THAT(messageOf(R"({"format": "conquer.front", "version": 1})", read),
              HasSubstr("'conquer.policy'"));
  EXPECT_THAT(messageOf(R"({"format": "conquer.policy", "version": 2})", read),
              HasSubstr("version"));
}

TEST(Json, WritesAtomicallyAndReportsFailure) {
  TestFolder folder;
  std::string path = folder.path("a.json");
  ASSERT_TRUE(writeFileAtomically(path, "{\"a\": 1}"));
  auto json = readJsonFile(path);
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["a"], 1);
  Status status = writeFileAtomically("/nonexistent-folder/x.json", "{}");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message(), HasSubstr("cannot write file"));
  // Devices are written to, never replaced.
  EXPECT_TRUE(writeFileAtomically("/dev/null", "{}"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_FALSE(writeFileAtomically("/dev/full", "{}"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
  EXPECT_THAT(readJsonFile("/nonexistent.json").error().message(), HasSubstr("cannot open file"));
}

} // namespace
