//===- Npy.h - reading and writing .npy files -------------------------------------------------===//
//
// NumPy's format, versions 1 to 3, C order, little endian, element types f32, i8, u8, i16, i32,
// i64 and bool. Samples, labels and values of modules come and go in this form.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_EVALUATOR_NPY_H
#define CONQUER_OPT_EVALUATOR_NPY_H

#include "support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace conquer {

enum class NpyType { F32, I8, U8, I16, I32, I64, Bool };

size_t npyBytes(NpyType type);
/// "f32", "i8" ...
const char *npyName(NpyType type);

/// The content of one file.
struct NpyArray {
  NpyType type = NpyType::F32;
  std::vector<int64_t> shape;
  std::vector<char> bytes; ///< row by row

  int64_t elements() const;
  template <typename T> const T *as() const { return reinterpret_cast<const T *>(bytes.data()); }
};

/// Reads a file of at most 16 GiB. Errors: no such file, not .npy, Fortran order, another element
/// type or byte order, size of the data not as the header says.
Result<NpyArray> readNpy(const std::string &path);

/// Reads f32 samples [n, ...sample shape] with n >= 1; `shape` is the network's input with its
/// batch dimension first. Errors also for other types and shapes and for elements that are not
/// finite.
Result<NpyArray> readSamples(const std::string &path, const std::vector<int64_t> &shape);

/// Reads i64 labels [count], each at least 0; none if the path is empty.
Result<std::vector<int64_t>> readLabels(const std::string &path, int64_t count);

/// Writes a file atomically.
Status writeNpy(const std::string &path, NpyType type, const std::vector<int64_t> &shape,
                const void *data);

} // namespace conquer

#endif // CONQUER_OPT_EVALUATOR_NPY_H
