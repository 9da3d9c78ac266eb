//===- Precision.h - the names of the numeric precisions --------------------------------------===//
//
// The precisions that the compiler has. Policies, profiles and passes all spell them through these
// functions; the search, which knows more of them, has its own list in conquer-search/Genome.h.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_HARDWARE_PRECISION_H
#define CONQUER_HARDWARE_PRECISION_H

#include <optional>
#include <string_view>

namespace conquer {

/// Precision of one layer: weights and activations alike.
enum class Precision {
  F32, ///< weights, activations and accumulator f32
  I8,  ///< W8A8: weights i8 symmetric per output channel, activations i8 affine per tensor,
       ///< accumulator i32
};

/// All precisions, widest first.
inline constexpr Precision allPrecisions[] = {Precision::F32, Precision::I8};

/// The name used in every file: "f32", "i8".
constexpr std::string_view precisionName(Precision precision) {
  switch (precision) {
  case Precision::F32:
    return "f32";
  case Precision::I8:
    return "i8";
  }
  return "";
}

/// The precision of that name, if there is one.
constexpr std::optional<Precision> parsePrecision(std::string_view name) {
  for (Precision precision : allPrecisions)
    if (precisionName(precision) == name)
      return precision;
  return std::nullopt;
}

} // namespace conquer

#endif // CONQUER_HARDWARE_PRECISION_H
