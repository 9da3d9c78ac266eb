//===- WindowTest.cpp - geometry of convolution and pooling windows ---------------------------===//
#include "conquer-opt/Import/Window.h"

#include <gmock/gmock.h>

using namespace conquer;
using namespace conquer::importer;

namespace {

Attribute ints(std::vector<int64_t> values) {
  Attribute attribute;
  attribute.kind = Attribute::Kind::Ints;
  attribute.ints = std::move(values);
  return attribute;
}

/// One axis of 9 elements, kernel 3.
Result<std::vector<Axis>> window(std::map<std::string, Attribute> attributes, int64_t input = 9,
                                 int64_t kernel = 3) {
  Node node;
  node.attributes = std::move(attributes);
  return readWindow(node, {input}, {kernel}, "here");
}

Attribute text(std::string value) {
  Attribute attribute;
  attribute.kind = Attribute::Kind::String;
  attribute.s = std::move(value);
  return attribute;
}

TEST(Window, UnusedTailBecomesACrop) {
  auto axes = window({{"strides", ints({2})}}, 10, 3);
  ASSERT_TRUE(axes);
  EXPECT_EQ((*axes)[0].output, 4);
  EXPECT_EQ((*axes)[0].crop(), 1);
  EXPECT_EQ((*axes)[0].exactPadEnd(), 0);
}

TEST(Window, UnusedPaddingIsLeftOut) {
  // 224 pixels, 7 wide, stride 2, padding 3: only 2 of the 3 at the end are read.
  auto axes = window({{"strides", ints({2})}, {"pads", ints({3, 3})}}, 224, 7);
  ASSERT_TRUE(axes);
  EXPECT_EQ((*axes)[0].output, 112);
  EXPECT_EQ((*axes)[0].exactPadEnd(), 2);
  EXPECT_EQ((*axes)[0].crop(), 0);
}

TEST(Window, SamePaddingPutsTheOddOneWhereItSays) {
  auto upper = window({{"strides", ints({2})}, {"auto_pad", text("SAME_UPPER")}}, 8);
  auto lower = window({{"strides", ints({2})}, {"auto_pad", text("SAME_LOWER")}}, 8);
  ASSERT_TRUE(upper && lower);
  EXPECT_EQ((*upper)[0].output, 4);
  EXPECT_EQ((*upper)[0].padBegin, 0);
  EXPECT_EQ((*upper)[0].padEnd, 1);
  EXPECT_EQ((*lower)[0].padBegin, 1);
  EXPECT_EQ((*lower)[0].padEnd, 0);
}

TEST(Window, CeilModeDropsAWindowThatStartsBehindTheInput) {
  Attribute ceil;
  ceil.kind = Attribute::Kind::Int;
  ceil.i = 1;
  auto hangs = window({{"strides", ints({2})}, {"ceil_mode", ceil}}, 6, 3);
  ASSERT_TRUE(hangs);
  EXPECT_EQ((*hangs)[0].output, 3);
  EXPECT_EQ((*hangs)[0].exactPadEnd(), 1);
  auto dropped =
      window({{"strides", ints({3})}, {"pads", ints({1, 1})}, {"ceil_mode", ceil}}, 5, 2);
  ASSERT_TRUE(dropped);
  EXPECT_EQ((*dropped)[0].output, 2);
}

TEST(Window, RefusesWhatDoesNotFit) {
  EXPECT_FALSE(window({}, 2, 3));
  EXPECT_FALSE(window({{"strides", ints({0})}}));
  EXPECT_FALSE(window({{"strides", ints({1, 1})}}));
  EXPECT_FALSE(window({{"pads", ints({-1, 0})}}));
  EXPECT_FALSE(window({{"dilations", ints({int64_t(1) << 40})}}));
  auto unknown = window({{"auto_pad", text("SOME")}});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message(), testing::HasSubstr("auto_pad 'SOME'"));
}

TEST(ElementCount, RefusesOverflow) {
  EXPECT_EQ(elementCount({}), 1);
  EXPECT_EQ(elementCount({2, 0, 3}), 0);
  EXPECT_EQ(elementCount({-1}), -1);
  EXPECT_EQ(elementCount({int64_t(1) << 31, int64_t(1) << 31}), -1);
  EXPECT_EQ(elementCount({int64_t(1) << 62, 4}), -1);
}

} // namespace
