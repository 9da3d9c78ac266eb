//===- TosaFilesTest.cpp - whole modules against Arm's reference model ------------------------===//
//
// Every testdata/NAME.mlir runs on NAME.in.K.npy and must give NAME.out.K.npy exactly.
//
//===------------------------------------------------------------------------------------------===//

#include "conquer-opt/Evaluator/GraphReader.h"
#include "conquer-opt/Evaluator/Npy.h"
#include "conquer-opt/Evaluator/Plan.h"
#include "conquer-opt/IR/Conquer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace conquer;

namespace {

class TosaFiles : public testing::TestWithParam<const char *> {};

TEST_P(TosaFiles, GiveWhatTheReferenceModelGives) {
  std::string stem = std::string(CONQUER_TESTDATA) + "/" + GetParam();
  mlir::DialectRegistry registry;
  registry.insert<ConquerDialect, mlir::func::FuncDialect, mlir::tosa::TosaDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(stem + ".mlir", &context);
  ASSERT_TRUE(module);
  ConstantCache constants;
  Result<Graph> graph = readGraph(*module, constants);
  ASSERT_TRUE(graph) << graph.error().message();
  auto shared = std::make_shared<const Graph>(*graph);
  PackCache packs;
  Result<Plan> plan = Plan::create(shared, **cq_levels(), packs, {});
  ASSERT_TRUE(plan) << plan.error().message();
  std::vector<NpyArray> inputs;
  std::vector<const void *> given;
  for (size_t i = 0; i < shared->inputs.size(); ++i) {
    Result<NpyArray> array = readNpy(stem + ".in." + std::to_string(i) + ".npy");
    ASSERT_TRUE(array) << array.error().message();
    ASSERT_EQ(array->bytes.size(), shared->values[shared->inputs[i]].bytes());
    inputs.push_back(*array);
  }
  for (const NpyArray &array : inputs)
    given.push_back(array.bytes.data());
  Workspace workspace(*plan);
  plan->run(given, workspace);
  for (size_t i = 0; i < shared->outputs.size(); ++i) {
    Result<NpyArray> expected = readNpy(stem + ".out." + std::to_string(i) + ".npy");
    ASSERT_TRUE(expected) << expected.error().message();
    ASSERT_EQ(expected->bytes.size(), shared->values[shared->outputs[i]].bytes());
    EXPECT_EQ(std::memcmp(expected->bytes.data(), workspace.value(shared->outputs[i]),
                          expected->bytes.size()),
              0)
        << "result " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, TosaFiles,
                         testing::Values("add_float32_requant", "add_integer", "avg_pool_global",
                                         "avg_pool_padded", "block_float32", "block_integer",
                                         "clamp", "concat_rescale", "conv_i8_float32_requant",
                                         "conv_i8_float32_requant_minmax", "conv_i8_rescale",
                                         "depthwise", "fc_as_conv1x1", "fc_as_matmul", "max_pool",
                                         "mean_reduce_sum_float32_requant", "pad", "table",
                                         "transpose_conv", "w4a8_i4", "w4a8_packed", "w8a16_i48"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
