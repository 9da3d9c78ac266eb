//===- CalibrationFile.h - the ranges of activations, and their file --------------------------===//
//
// What calibration found out about every f32 activation of prepared IR, keyed by `conquer.id`. The
// file is calibration.json of docs/formats.md. Plain C++ without MLIR.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_CALIBRATION_CALIBRATIONFILE_H
#define CONQUER_OPT_CALIBRATION_CALIBRATIONFILE_H

#include "support/Error.h"

#include <cstdint>
#include <map>
#include <string>

namespace conquer {

/// The range of one activation tensor, in real values. Finite, min <= 0 <= max.
struct Range {
  double min = 0, max = 0;                 ///< what quantisation uses: codes span it
  double observedMin = 0, observedMax = 0; ///< the extremes seen; observedMin <= observedMax
};

/// The ranges of one network.
struct Calibration {
  std::string method;  ///< how min and max were chosen: "minmax", "percentile", "mse"
  int64_t samples = 0; ///< images looked at, at least 1
  std::map<std::string, Range> ranges; ///< by conquer.id: layers, other ops, inputs
};

/// success(), or an Error naming the id if its range is not finite (in f32), not ordered or lacks
/// zero. `where` begins the message.
Status checkRange(const std::string &id, const Range &range, const std::string &where);

/// success(), or an Error naming the id whose range is not finite, not ordered or lacks zero.
/// `where` begins the message.
Status checkCalibration(const Calibration &calibration, const std::string &where);

/// Parses the text of a calibration.json; `where` (a file name) begins messages. The result has
/// passed checkCalibration.
Result<Calibration> parseCalibration(const std::string &text, const std::string &where);

/// Reads a calibration.json.
Result<Calibration> readCalibration(const std::string &path);

/// The text of a calibration.json. Numbers are printed so that reading gives them back exactly.
std::string calibrationToJson(const Calibration &calibration);

/// Checks and writes a calibration.json, atomically.
Status writeCalibration(const Calibration &calibration, const std::string &path);

} // namespace conquer

#endif // CONQUER_OPT_CALIBRATION_CALIBRATIONFILE_H
