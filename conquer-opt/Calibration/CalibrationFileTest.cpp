//===- CalibrationFileTest.cpp - calibration.json round trip and refusals ---------------------===//

#include "conquer-opt/Calibration/CalibrationFile.h"
#include "support/TestFolder.h"

#include <gmock/gmock.h>

#include <cmath>

namespace conquer {
namespace {

using testing::HasSubstr;

std::string document(const std::string &ranges) {
  return R"({"format": "conquer.calibration", "version": 1, "method": "mse", "samples": 3,
             "ranges": {)" +
         ranges + "}}";
}

std::string messageFor(const std::string &ranges) {
  Result<Calibration> result = parseCalibration(document(ranges), "c.json");
  return result ? "" : result.error().message();
}

TEST(CalibrationFile, RoundTripIsExact) {
  Calibration calibration{"percentile", 512, {}};
  calibration.ranges["/conv1/Conv#2"] = {-0.1, 1.0 / 3.0, -1e-30, 3e38};
  calibration.ranges["dead"] = {0, 0, 0, 0};
  TestFolder folder;
  std::string path = folder.path("calibration.json");
  ASSERT_TRUE(writeCalibration(calibration, path));
  Result<Calibration> read = readCalibration(path);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->method, "percentile");
  EXPECT_EQ(read->samples, 512);
  ASSERT_EQ(read->ranges.size(), 2u);
  EXPECT_EQ(read->ranges["/conv1/Conv#2"].max, 1.0 / 3.0);
  EXPECT_EQ(read->ranges["/conv1/Conv#2"].observedMin, -1e-30);
}

TEST(CalibrationFile, NamesTheIdOfABadRange) {
  const char *tail = R"(, "observed_min": -1, "observed_max": 1})";
  EXPECT_EQ(messageFor(std::string(R"("a": {"min": -1, "max": 1)") + tail), "");
  EXPECT_THAT(messageFor(std::string(R"("/conv1": {"min": 0.5, "max": 1)") + tail),
              testing::AllOf(HasSubstr("c.json: ranges./conv1"), HasSubstr("[0.5, 1.0]")));
  EXPECT_THAT(messageFor(std::string(R"("/conv1": {"min": -1, "max": 1e999)") + tail),
              HasSubstr("c.json"));
  EXPECT_THAT(messageFor(std::string(R"("/conv1": {"min": -1, "max": 1, "mean": 0)") + tail),
              HasSubstr("ranges./conv1.mean"));
  EXPECT_THAT(messageFor(R"("/conv1": {"min": -1, "max": 1})"),
              HasSubstr("ranges./conv1.observed_min"));
}

TEST(CalibrationFile, RefusesToWriteWhatIsNotFinite) {
  Calibration calibration{"minmax", 1, {{"x", {0, std::nan(""), 0, 0}}}};
  TestFolder folder;
  Status status = writeCalibration(calibration, folder.path("never_written.json"));
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message(), HasSubstr("ranges.x"));
}

TEST(CalibrationFile, RefusesAMissingFileAndNoSamples) {
  EXPECT_FALSE(readCalibration("/nonexistent/c.json"));
  EXPECT_FALSE(parseCalibration(
      R"({"format": "conquer.calibration", "version": 1, "method": "mse", "samples": 0, "ranges": {}})",
      "c.json"));
}

} // namespace
} // namespace conquer
