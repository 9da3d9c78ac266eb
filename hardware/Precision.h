//===- Precision.h - the numeric precisions ---------------------------------------------------===//
//
// The one list of the precisions that a layer can have. Policies, profiles, the compiler and the
// search spell and compare them through these functions.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_HARDWARE_PRECISION_H
#define CONQUER_HARDWARE_PRECISION_H

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace conquer {

/// How one layer computes.
enum class Precision : uint8_t {
  F32,   ///< weights, activations and accumulator f32
  BF16,  ///< weights and activations bf16, accumulator f32
  F16,   ///< weights and activations f16, accumulator f32
  I8,    ///< W8A8: weights i8 symmetric per output channel, activations i8 affine per tensor,
         ///< accumulator i32
  W4A8,  ///< weights i4 symmetric per output channel, activations and accumulator as in I8
  W8A16, ///< weights as in I8, activations i16 symmetric per tensor, accumulator i48
};

/// All precisions: floats before integers. Alphabets of layers and lists in messages have this
/// order.
inline constexpr Precision allPrecisions[] = {Precision::F32, Precision::BF16, Precision::F16,
                                              Precision::I8,  Precision::W4A8, Precision::W8A16};
inline constexpr size_t numPrecisions = std::size(allPrecisions);

/// The place of a precision in tables of numPrecisions entries.
constexpr size_t precisionIndex(Precision precision) { return static_cast<size_t>(precision); }

namespace detail {
struct PrecisionInfo {
  std::string_view name;
  char letter;
  double bytesPerWeight;
  Precision form;
};
/// By precisionIndex.
inline constexpr PrecisionInfo precisionTable[] = {
    {"f32", 'f', 4, Precision::F32},   {"bf16", 'b', 2, Precision::BF16},
    {"f16", 'h', 2, Precision::F16},   {"i8", '8', 1, Precision::I8},
    {"w4a8", '4', 0.5, Precision::I8}, {"w8a16", '6', 1, Precision::W8A16}};
static_assert(std::size(precisionTable) == numPrecisions);
} // namespace detail

/// The name used in every file: "f32", "bf16", "f16", "i8", "w4a8", "w8a16".
constexpr std::string_view precisionName(Precision precision) {
  return detail::precisionTable[precisionIndex(precision)].name;
}

/// The letter that stands for it in the key of a genome: f, b, h, 8, 4, 6.
constexpr char precisionLetter(Precision precision) {
  return detail::precisionTable[precisionIndex(precision)].letter;
}

/// Bytes that one weight takes in a module: 4, 2, 2, 1, 0.5, 1.
constexpr double bytesPerWeight(Precision precision) {
  return detail::precisionTable[precisionIndex(precision)].bytesPerWeight;
}

/// The precision that stands for the form of a layer's activations: w4a8 reads and writes the same
/// i8 values as i8 does, every other precision has its own form. Values are converted between
/// layers of different forms only.
constexpr Precision activationForm(Precision precision) {
  return detail::precisionTable[precisionIndex(precision)].form;
}

/// The precision of that name, if there is one.
constexpr std::optional<Precision> parsePrecision(std::string_view name) {
  for (Precision precision : allPrecisions)
    if (precisionName(precision) == name)
      return precision;
  return std::nullopt;
}

/// The names of some precisions, for messages: "f32, i8".
template <typename Precisions> std::string precisionNames(const Precisions &precisions) {
  std::string names;
  for (Precision precision : precisions)
    names += (names.empty() ? "" : ", ") + std::string(precisionName(precision));
  return names;
}

} // namespace conquer

#endif // CONQUER_HARDWARE_PRECISION_H
