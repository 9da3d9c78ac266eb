//===- LayersTest.cpp - layers.json read and written ------------------------------------------===//

#include "conquer-opt/Analysis/Layers.h"

#include <gmock/gmock.h>

using namespace conquer;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

LayerList example() {
  Layer layer;
  layer.id = "/conv1/Conv";
  layer.op = "conv2d";
  layer.inputShape = {1, 28, 28, 1};
  layer.outputShape = {1, 28, 28, 32};
  layer.weightShape = {32, 3, 3, 1};
  layer.stride = layer.dilation = {1, 1};
  layer.pad = {1, 1, 1, 1};
  layer.macs = 225792;
  layer.weights = 288;
  layer.signature = "conv2d_28x28x1_k32x3x3_s1x1_d1x1_p1.1.1.1";
  layer.precisions = {Precision::F32, Precision::I8};
  return {{{"image", {1, 1, 28, 28}}},
          {{"logits", {1, 10}}},
          {layer},
          {{"image", "/conv1/Conv", 784}, {"/conv1/Conv", "logits", 25088}}};
}

/// The example's text with one passage replaced.
std::string changed(const std::string &from, const std::string &to) {
  std::string text = layersToJson(example());
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string messageOf(const std::string &text) {
  auto list = parseLayers(text, "layers.json");
  return list ? "no error" : list.error().message();
}

TEST(Layers, WhatIsWrittenIsRead) {
  std::string text = layersToJson(example());
  auto list = parseLayers(text);
  ASSERT_TRUE(list) << list.error().message();
  EXPECT_EQ(layersToJson(*list), text);
  ASSERT_EQ(list->layers.size(), 1u);
  EXPECT_THAT(list->layers[0].precisions, ElementsAre(Precision::F32, Precision::I8));
  EXPECT_THAT(list->layers[0].weightShape, ElementsAre(32, 3, 3, 1));
  EXPECT_EQ(list->edges[1].to, "logits");
}

TEST(Layers, EmptyListIsLegal) {
  auto list = parseLayers(layersToJson({}));
  ASSERT_TRUE(list) << list.error().message();
  EXPECT_TRUE(list->layers.empty());
}

TEST(Layers, NamesThatAreNotUtf8DoNotThrow) {
  LayerList list = example();
  list.outputs[0].id = list.edges[1].to = "a\xff";
  EXPECT_TRUE(parseLayers(layersToJson(list)));
}

TEST(Layers, MistakesNameTheField) {
  EXPECT_THAT(messageOf(changed("conquer.layers", "conquer.layer")), HasSubstr("format"));
  EXPECT_THAT(messageOf(changed("\"macs\":225792", "\"macs\":-1")), HasSubstr("layers[0].macs"));
  EXPECT_THAT(messageOf(changed("\"stride\":[1,1]", "\"stride\":[0,1]")),
              HasSubstr("layers[0].stride"));
  EXPECT_THAT(messageOf(changed("\"pad\":[1,1,1,1]", "\"pad\":[1]")), HasSubstr("layers[0].pad"));
  EXPECT_THAT(messageOf(changed("\"op\"", "\"kind\"")), HasSubstr("layers[0]"));
  EXPECT_THAT(messageOf(changed("\"f32\"", "\"f31\"")), HasSubstr("unknown precision 'f31'"));
  EXPECT_THAT(messageOf(changed("\"f32\",", "")), HasSubstr("the first precision is not f32"));
}

TEST(Layers, IdsMustFitTogether) {
  EXPECT_THAT(messageOf(changed("\"from\":\"image\"", "\"from\":\"imag\"")),
              HasSubstr("unknown id 'imag'"));
  EXPECT_THAT(messageOf(changed("\"to\":\"logits\"", "\"to\":\"image\"")),
              HasSubstr("unknown id 'image'"));
  LayerList twice = example();
  twice.layers.push_back(twice.layers[0]);
  EXPECT_THAT(messageOf(layersToJson(twice)), HasSubstr("'/conv1/Conv' occurs twice"));
}

} // namespace
