//===- NpyTest.cpp - .npy files, good and bad -------------------------------------------------===//

#include "conquer-opt/Evaluator/Npy.h"
#include "support/TestFolder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>

using namespace conquer;
using testing::HasSubstr;

namespace {

class Npy : public testing::Test {
protected:
  void write(const std::string &text) { std::ofstream(path, std::ios::binary) << text; }
  /// A version 1 file with that header and data.
  void writeRaw(std::string header, const std::string &data, char version = 1) {
    header += '\n';
    std::string text("\x93NUMPY", 6);
    text += version;
    text += '\0';
    text += static_cast<char>(header.size() & 0xff);
    text += static_cast<char>(header.size() >> 8);
    if (version > 1)
      text += std::string(2, '\0');
    write(text + header + data);
  }
  std::string readError() {
    auto result = readNpy(path);
    return result ? "" : result.error().message();
  }
  template <typename T>
  void store(NpyType type, const std::vector<int64_t> &shape, std::vector<T> data) {
    Status status = writeNpy(path, type, shape, data.data());
    ASSERT_TRUE(status) << status.error().message();
  }
  TestFolder folder;
  std::string path = folder.path("array.npy");
};

TEST_F(Npy, RoundTripsEveryType) {
  int64_t elements[6] = {1, -2, 3, -4, 5, -6};
  for (NpyType type : {NpyType::F32, NpyType::I8, NpyType::U8, NpyType::I16, NpyType::I32,
                       NpyType::I64, NpyType::Bool}) {
    ASSERT_TRUE(writeNpy(path, type, {2, 3}, elements));
    auto array = readNpy(path);
    ASSERT_TRUE(array) << array.error().message();
    EXPECT_EQ(array->type, type);
    EXPECT_EQ(array->shape, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(array->bytes.size(), 6 * npyBytes(type));
    EXPECT_EQ(std::memcmp(array->bytes.data(), elements, array->bytes.size()), 0);
  }
}

TEST_F(Npy, RoundTripsScalarsVectorsAndNothing) {
  for (const std::vector<int64_t> &shape :
       {std::vector<int64_t>{}, std::vector<int64_t>{1}, std::vector<int64_t>{0, 3}}) {
    float data = 2;
    ASSERT_TRUE(writeNpy(path, NpyType::F32, shape, &data));
    auto array = readNpy(path);
    ASSERT_TRUE(array) << array.error().message();
    EXPECT_EQ(array->shape, shape);
  }
}

TEST_F(Npy, ReadsVersionTwoAndUnusualSpacing) {
  writeRaw("{'shape':(2,) , 'fortran_order' : False,'descr':'<i2'}", std::string("\1\0\2\0", 4), 2);
  auto array = readNpy(path);
  ASSERT_TRUE(array) << array.error().message();
  EXPECT_EQ(array->as<int16_t>()[1], 2);
}

TEST_F(Npy, RefusesWhatIsNoNpy) {
  EXPECT_THAT(readError(), HasSubstr("cannot open"));
  for (const std::string &text :
       {std::string(), std::string("PK\3\4"), std::string("\x93NUMPY\1\0", 8),
        std::string("\x93NUMPY\1\0\xff\xff{", 11), std::string(200, 'x')}) {
    write(text);
    EXPECT_THAT(readError(), HasSubstr("not a .npy file, or truncated"));
  }
}

TEST_F(Npy, RefusesOtherLayouts) {
  writeRaw("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", std::string(8, '\0'));
  EXPECT_THAT(readError(), HasSubstr("'<f8'"));
  writeRaw("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", std::string(4, '\0'));
  EXPECT_THAT(readError(), HasSubstr("'>f4'"));
  writeRaw("{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", std::string(4, '\0'));
  EXPECT_THAT(readError(), HasSubstr("Fortran"));
  writeRaw("{'descr': '<f4', 'fortran_order': False, 'shape': 1, }", std::string(4, '\0'));
  EXPECT_THAT(readError(), HasSubstr("malformed shape"));
  writeRaw("{}", "");
  EXPECT_THAT(readError(), HasSubstr("element type"));
}

TEST_F(Npy, RefusesSizesThatDoNotFit) {
  writeRaw("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", std::string(8, '\0'));
  EXPECT_THAT(readError(), HasSubstr("holds 8 bytes"));
  writeRaw("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999, 99999999, 99999999), }",
           "");
  EXPECT_THAT(readError(), HasSubstr("at most 16 GiB"));
  writeRaw("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999,), }", "");
  EXPECT_THAT(readError(), HasSubstr("malformed shape"));
}

TEST_F(Npy, SamplesMustFitTheNetwork) {
  auto error = [&] {
    auto result = readSamples(path, {1, 2, 2});
    return result ? "" : result.error().message();
  };
  store<float>(NpyType::F32, {3, 2, 2}, std::vector<float>(12, 1));
  EXPECT_EQ(error(), "");
  store<float>(NpyType::F32, {3, 4}, std::vector<float>(12, 1));
  EXPECT_THAT(error(), HasSubstr("(3, 4)"));
  EXPECT_THAT(error(), HasSubstr("(n, 2, 2)"));
  store<int8_t>(NpyType::I8, {3, 2, 2}, std::vector<int8_t>(12, 1));
  EXPECT_THAT(error(), HasSubstr("the samples are i8"));
  store<float>(NpyType::F32, {0, 2, 2}, {});
  EXPECT_THAT(error(), HasSubstr("no samples"));
  std::vector<float> bad(12, 1);
  bad[9] = NAN;
  store<float>(NpyType::F32, {3, 2, 2}, bad);
  EXPECT_THAT(error(), HasSubstr("sample 2"));
}

TEST_F(Npy, LabelsMustFitTheSamples) {
  auto error = [&] {
    auto result = readLabels(path, 3);
    return result ? "" : result.error().message();
  };
  store<int64_t>(NpyType::I64, {3}, {0, 4, 2});
  EXPECT_EQ(error(), "");
  store<int64_t>(NpyType::I64, {2}, {0, 4});
  EXPECT_THAT(error(), HasSubstr("(2,)"));
  store<int64_t>(NpyType::I64, {3}, {0, -1, 2});
  EXPECT_THAT(error(), HasSubstr("label 1 is -1"));
  store<int32_t>(NpyType::I32, {3}, {0, 1, 2});
  EXPECT_THAT(error(), HasSubstr("i32"));
}

TEST_F(Npy, WritingToNowhereIsAnError) {
  float data = 1;
  EXPECT_FALSE(writeNpy("/nowhere/at/all.npy", NpyType::F32, {1}, &data));
}

} // namespace
