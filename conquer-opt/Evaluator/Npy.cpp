//===- Npy.cpp - reading and writing .npy files -----------------------------------------------===//

#include "conquer-opt/Evaluator/Npy.h"

#include "support/Json.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>

using namespace conquer;

namespace {

constexpr int64_t maxBytes = int64_t(16) << 30;
constexpr size_t maxHeader = 65536;

struct TypeEntry {
  NpyType type;
  const char *descr, *name;
  size_t bytes;
};
constexpr TypeEntry typeTable[] = {
    {NpyType::F32, "<f4", "f32", 4},   {NpyType::I8, "|i1", "i8", 1},
    {NpyType::U8, "|u1", "u8", 1},     {NpyType::I16, "<i2", "i16", 2},
    {NpyType::I32, "<i4", "i32", 4},   {NpyType::I64, "<i8", "i64", 8},
    {NpyType::Bool, "|b1", "bool", 1},
};

const TypeEntry &entryOf(NpyType type) {
  for (const TypeEntry &entry : typeTable)
    if (entry.type == type)
      return entry;
  return typeTable[0];
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE *)>;

std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

/// The text between `'key':` and the next comma or brace at top level.
std::string headerField(const std::string &header, const std::string &key) {
  size_t at = header.find("'" + key + "'");
  if (at != std::string::npos)
    at = header.find(':', at);
  if (at == std::string::npos)
    return "";
  std::string text;
  int depth = 0;
  for (++at; at < header.size(); ++at) {
    char c = header[at];
    if (depth == 0 && (c == ',' || c == '}'))
      break;
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c != ' ')
      text += c;
  }
  return text;
}

/// "(3,4)" to {3, 4}; false if it is nothing of the kind.
bool parseShape(const std::string &text, std::vector<int64_t> &shape) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')')
    return false;
  int64_t value = -1;
  for (char c : text.substr(1)) {
    if (c >= '0' && c <= '9') {
      value = (value < 0 ? 0 : value) * 10 + (c - '0');
      if (value > maxBytes)
        return false;
    } else if (c == ',' || c == ')') {
      if (value >= 0)
        shape.push_back(value);
      value = -1;
    } else {
      return false;
    }
  }
  return shape.size() <= 8;
}

/// Fills type and shape from the header's text.
Status parseHeader(const std::string &header, const std::string &path, NpyArray &array) {
  std::string descr = headerField(header, "descr");
  bool known = false;
  for (const TypeEntry &entry : typeTable)
    if (descr == "'" + std::string(entry.descr) + "'") {
      array.type = entry.type;
      known = true;
    }
  if (!known)
    return Error{"element type is " + descr, path,
                 "little-endian f32, i8, u8, i16, i32, i64 or bool",
                 "convert it with numpy's astype"};
  if (headerField(header, "fortran_order") != "False")
    return Error{"the array is in Fortran order", path, "C order",
                 "save numpy.ascontiguousarray of it"};
  if (!parseShape(headerField(header, "shape"), array.shape))
    return Error{"malformed shape in the header", path, "a .npy file", ""};
  return success();
}

/// Reads magic, version and header text.
Result<std::string> readHeader(std::FILE *file, const std::string &path) {
  Error malformed{"not a .npy file, or truncated", path, "a file written by numpy.save", ""};
  unsigned char start[12];
  if (std::fread(start, 1, 10, file) != 10 || std::memcmp(start, "\x93NUMPY", 6) != 0)
    return malformed;
  size_t length = start[8] | size_t(start[9]) << 8;
  if (start[6] < 1 || start[6] > 3)
    return malformed;
  if (start[6] >= 2) {
    if (std::fread(start + 10, 1, 2, file) != 2)
      return malformed;
    length |= size_t(start[10]) << 16 | size_t(start[11]) << 24;
  }
  if (length > maxHeader)
    return malformed;
  std::string header(length, ' ');
  if (std::fread(&header[0], 1, length, file) != length)
    return malformed;
  return header;
}

} // namespace

size_t conquer::npyBytes(NpyType type) { return entryOf(type).bytes; }
const char *conquer::npyName(NpyType type) { return entryOf(type).name; }

int64_t NpyArray::elements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

Result<NpyArray> conquer::readNpy(const std::string &path) {
  File file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file)
    return Error{std::string("cannot open the file: ") + std::strerror(errno), path, "", ""};
  Result<std::string> header = readHeader(file.get(), path);
  if (!header)
    return header.error();
  NpyArray array;
  if (Status status = parseHeader(*header, path, array); !status)
    return status.error();
  auto total = static_cast<int64_t>(npyBytes(array.type));
  for (int64_t size : array.shape)
    if (__builtin_mul_overflow(total, size, &total) || total > maxBytes)
      return Error{"the array has shape " + shapeText(array.shape), path,
                   "at most 16 GiB of elements", ""};
  long start = std::ftell(file.get());
  std::fseek(file.get(), 0, SEEK_END);
  long end = std::ftell(file.get());
  if (end - start != total)
    return Error{"the file holds " + std::to_string(end - start) + " bytes of elements", path,
                 std::to_string(total) + " for shape " + shapeText(array.shape) + " of " +
                     npyName(array.type),
                 "the file may be truncated: write it again"};
  std::fseek(file.get(), start, SEEK_SET);
  array.bytes.resize(total);
  if (std::fread(array.bytes.data(), 1, total, file.get()) != static_cast<size_t>(total))
    return Error{"cannot read the file", path, "", ""};
  return array;
}

Result<NpyArray> conquer::readSamples(const std::string &path, const std::vector<int64_t> &shape) {
  Result<NpyArray> array = readNpy(path);
  if (!array)
    return array;
  std::vector<int64_t> expected = shape;
  if (!expected.empty() && !array->shape.empty())
    expected[0] = array->shape[0];
  std::string wanted = "f32 of shape (n" + shapeText(shape).substr(shape.empty() ? 1 : 2);
  if (array->type != NpyType::F32)
    return Error{std::string("the samples are ") + npyName(array->type), path, wanted, ""};
  if (array->shape != expected || shape.empty())
    return Error{"the samples have shape " + shapeText(array->shape), path, wanted,
                 "prepare the samples for this network"};
  if (array->shape[0] < 1)
    return Error{"the file has no samples", path, "at least one", ""};
  const float *data = array->as<float>();
  int64_t count = array->elements(), each = count / array->shape[0];
  for (int64_t i = 0; i < count; ++i)
    if (!std::isfinite(data[i]))
      return Error{"sample " + std::to_string(i / each) + " has an element that is not finite",
                   path, "finite numbers", "check how the samples were made"};
  return array;
}

Result<std::vector<int64_t>> conquer::readLabels(const std::string &path, int64_t count) {
  if (path.empty())
    return std::vector<int64_t>();
  Result<NpyArray> array = readNpy(path);
  if (!array)
    return array.error();
  std::string wanted = "i64 of shape " + shapeText({count});
  if (array->type != NpyType::I64)
    return Error{std::string("the labels are ") + npyName(array->type), path, wanted, ""};
  if (array->shape != std::vector<int64_t>{count})
    return Error{"the labels have shape " + shapeText(array->shape), path, wanted,
                 "give one label per sample"};
  std::vector<int64_t> labels(count);
  std::memcpy(labels.data(), array->bytes.data(), array->bytes.size());
  for (int64_t i = 0; i < count; ++i)
    if (labels[i] < 0)
      return Error{"label " + std::to_string(i) + " is " + std::to_string(labels[i]), path,
                   "a class number, at least 0", ""};
  return labels;
}

Status conquer::writeNpy(const std::string &path, NpyType type, const std::vector<int64_t> &shape,
                         const void *data) {
  std::string header = std::string("{'descr': '") + entryOf(type).descr +
                       "', 'fortran_order': False, 'shape': " + shapeText(shape) + ", }";
  // The elements begin at a multiple of 64 bytes.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size() & 0xff);
  text += static_cast<char>(header.size() >> 8);
  text += header;
  size_t bytes = npyBytes(type);
  for (int64_t size : shape)
    bytes *= size;
  text.append(static_cast<const char *>(data), bytes);
  return writeFileAtomically(path, text);
}
