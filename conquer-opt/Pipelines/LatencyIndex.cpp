//===- LatencyIndex.cpp - what the functions of a latency module stand for --------------------===//

#include "conquer-opt/Pipelines/LatencyIndex.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using conquer::LatencyFunction;

static void writeFunction(llvm::json::OStream &json, const LatencyFunction &function) {
  auto name = [](conquer::Precision precision) {
    return llvm::StringRef(conquer::precisionName(precision));
  };
  json.attribute("function", function.function);
  if (function.signature.empty()) {
    json.attribute("from", name(function.from));
    json.attribute("to", name(function.to));
    json.attribute("elements", function.elements);
  } else {
    json.attribute("signature", function.signature);
    json.attribute("precision", name(function.from));
  }
  json.attributeArray("inputs", [&] {
    for (const std::string &input : function.inputs)
      json.value(input);
  });
}

std::string conquer::latencyIndexToJson(const std::vector<LatencyFunction> &functions) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, /*IndentSize=*/1);
  json.object([&] {
    json.attribute("format", "conquer.latency_index");
    json.attribute("version", 1);
    json.attributeArray("functions", [&] {
      for (const LatencyFunction &function : functions)
        json.object([&] { writeFunction(json, function); });
    });
  });
  return text + "\n";
}
