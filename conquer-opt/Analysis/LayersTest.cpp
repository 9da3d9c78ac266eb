//===- LayersTest.cpp - the text of layers.json
//------------------------------------------------===//

#include "conquer-opt/Analysis/Layers.h"

#include <gmock/gmock.h>

using namespace conquer;
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

TEST(Layers, OneLayerALine) {
  EXPECT_EQ(layersToJson(example()), R"({"format": "conquer.layers", "version": 1,
 "inputs": [
  {"id":"image","shape":[1,1,28,28]}],
 "outputs": [
  {"id":"logits","shape":[1,10]}],
 "layers": [
  {"id":"/conv1/Conv","op":"conv2d","input_shape":[1,28,28,1],"output_shape":[1,28,28,32],)"
                                     R"("weight_shape":[32,3,3,1],"stride":[1,1],"dilation":[1,1],)"
                                     R"("pad":[1,1,1,1],"macs":225792,"weights":288,)"
                                     R"("signature":"conv2d_28x28x1_k32x3x3_s1x1_d1x1_p1.1.1.1",)"
                                     R"("precisions":["f32","i8"]}],
 "edges": [
  {"from":"image","to":"/conv1/Conv","elements":784},
  {"from":"/conv1/Conv","to":"logits","elements":25088}]}
)");
}

TEST(Layers, EmptyLists) { EXPECT_THAT(layersToJson({}), HasSubstr("\"layers\": []")); }

TEST(Layers, BytesThatAreNotUtf8AreReplaced) {
  LayerList list = example();
  list.outputs[0].id = "a\xff";
  EXPECT_THAT(layersToJson(list), HasSubstr("\"id\":\"a\xef\xbf\xbd\""));
}

} // namespace
