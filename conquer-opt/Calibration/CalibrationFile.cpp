//===- CalibrationFile.cpp - reading and writing calibration.json -----------------------------===//

#include "conquer-opt/Calibration/CalibrationFile.h"

#include "support/Json.h"

#include <nlohmann/json.hpp>

#include <cfloat>
#include <cmath>

namespace conquer {

using Json = nlohmann::ordered_json;

namespace {

std::string show(double value) { return Json(value).dump(); }

/// "[-1.5, 2]", for messages; JSON has no way to spell what is not finite.
std::string show(double min, double max) {
  auto text = [](double value) { return std::isfinite(value) ? show(value) : "not finite"; };
  return "[" + text(min) + ", " + text(max) + "]";
}

} // namespace

Status checkRange(const std::string &id, const Range &range, const std::string &where) {
  auto finite = [](double value) { return std::fabs(value) <= FLT_MAX; };
  if (!finite(range.min) || !finite(range.max) || range.min > 0 || range.max < 0)
    return Error{"range is " + show(range.min, range.max), where + ": ranges." + id,
                 "finite f32 values with min <= 0 <= max", "calibrate again"};
  if (!finite(range.observedMin) || !finite(range.observedMax) ||
      range.observedMin > range.observedMax)
    return Error{"observed range is " + show(range.observedMin, range.observedMax),
                 where + ": ranges." + id, "finite f32 values, observed_min <= observed_max",
                 "calibrate again"};
  return success();
}

Status checkCalibration(const Calibration &calibration, const std::string &where) {
  if (calibration.samples < 1)
    return Error{"samples is " + std::to_string(calibration.samples), where, "at least 1", ""};
  for (const auto &[id, range] : calibration.ranges)
    if (Status status = checkRange(id, range, where); !status)
      return status;
  return success();
}

namespace {

Result<Calibration> readDocument(const Json &json, const std::string &where) {
  JsonReader reader(json, where);
  Calibration calibration;
  reader.header("conquer.calibration");
  calibration.method = reader.string("method");
  calibration.samples = reader.integer("samples");
  JsonReader ranges = reader.object("ranges");
  for (const std::string &id : ranges.keys()) {
    JsonReader entry = ranges.object(id);
    Range range;
    range.min = entry.number("min");
    range.max = entry.number("max");
    range.observedMin = entry.number("observed_min");
    range.observedMax = entry.number("observed_max");
    entry.finish();
    calibration.ranges[id] = range;
  }
  reader.finish();
  if (Status status = reader.status(); !status)
    return status.error();
  if (Status status = checkCalibration(calibration, where); !status)
    return status.error();
  return calibration;
}

} // namespace

Result<Calibration> parseCalibration(const std::string &text, const std::string &where) {
  Result<Json> json = parseJson(text, where);
  if (!json)
    return json.error();
  return readDocument(*json, where);
}

Result<Calibration> readCalibration(const std::string &path) {
  Result<Json> json = readJsonFile(path);
  if (!json)
    return json.error();
  return readDocument(*json, path);
}

std::string calibrationToJson(const Calibration &calibration) {
  Json json = {{"format", "conquer.calibration"},
               {"version", 1},
               {"method", calibration.method},
               {"samples", calibration.samples}};
  json["ranges"] = Json::object();
  for (const auto &[id, range] : calibration.ranges)
    json["ranges"][id] = {{"min", range.min},
                          {"max", range.max},
                          {"observed_min", range.observedMin},
                          {"observed_max", range.observedMax}};
  return json.dump(1) + "\n";
}

Status writeCalibration(const Calibration &calibration, const std::string &path) {
  if (Status status = checkCalibration(calibration, path); !status)
    return status;
  return writeFileAtomically(path, calibrationToJson(calibration));
}

} // namespace conquer
