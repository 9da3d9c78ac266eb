//===- Sensitivity.cpp - what each layer alone does to the output -----------------------------===//
//
// For every layer and legal precision the network is quantised with only that layer changed. Values
// that are computed the same way as in the f32 network have the same hash there, so a variant
// starts from the f32 network's values: only what follows the changed layer runs again. This goes
// image by image, so memory holds the activations of one image per thread.
//
//===------------------------------------------------------------------------------------------===//

#include "conquer-opt/Evaluator/SessionSupport.h"

#include <algorithm>

using namespace conquer;

namespace {

/// Limit of the f32 activations that all threads together keep.
constexpr size_t maxActivationBytes = size_t(2) << 30;

} // namespace

/// The network with one layer in another precision, from the f32 values on.
struct Session::Variant {
  std::string layer;
  Precision precision;
  Plan plan;
  std::vector<int> sources; ///< per given value: the f32 network's value of the same hash
};

Result<std::vector<Session::Variant>> Session::makeVariants() {
  const Graph &base = *net->prepared();
  std::unordered_map<uint64_t, int> valueOf;
  for (size_t i = 0; i < base.values.size(); ++i)
    if (!base.values[i].constant)
      valueOf.emplace(base.values[i].hash, i);
  Policy policy;
  for (const PolicyLayer &layer : net->layers())
    policy.layers[layer.id] = Precision::F32;
  std::vector<Variant> variants;
  for (const PolicyLayer &layer : net->layers())
    for (Precision precision : layer.precisions) {
      if (precision == Precision::F32)
        continue;
      policy.layers[layer.id] = precision;
      Result<std::shared_ptr<const Graph>> graph = graphOf(&policy);
      policy.layers[layer.id] = Precision::F32;
      if (!graph)
        return graph.error();
      PlanOptions options;
      options.wanted = {(*graph)->outputs[0]};
      std::vector<int> sources;
      for (size_t i = 0; i < (*graph)->values.size(); ++i)
        if (auto found = valueOf.find((*graph)->values[i].hash);
            found != valueOf.end() && !(*graph)->values[i].constant) {
          options.given.push_back(i);
          sources.push_back(found->second);
        }
      Result<Plan> plan = makePlan(*graph, options);
      if (!plan)
        return plan.error();
      variants.push_back({layer.id, precision, std::move(*plan), std::move(sources)});
    }
  return variants;
}

Result<SensitivityTable> Session::sensitivity(const std::string &samplesPath,
                                              const std::string &labelsPath,
                                              const StageProgress &progress) {
  Result<std::shared_ptr<const Samples>> loaded = loadSamples(samplesPath);
  if (!loaded)
    return loaded.error();
  const Samples &samples = **loaded;
  Result<std::vector<int64_t>> labels = readLabels(labelsPath, samples.count());
  if (!labels)
    return labels.error();
  PlanOptions options;
  options.keepAll = true;
  Result<Plan> base = makePlan(net->prepared(), options);
  if (!base)
    return base.error();
  Result<std::vector<Variant>> made = makeVariants();
  if (!made)
    return made.error();
  std::vector<Variant> &variants = *made;

  size_t variantBytes = 0;
  for (const Variant &variant : variants)
    variantBytes = std::max(variantBytes, variant.plan.arenaBytes());
  // At least 1: a network of reshapes alone needs no memory of its own.
  size_t perThread = std::max<size_t>(1, base->arenaBytes() + variantBytes);
  int threads =
      static_cast<int>(std::clamp<size_t>(maxActivationBytes / perThread, 1, threadCount));
  struct Local {
    std::unique_ptr<Workspace> base;
    std::vector<Workspace> variants;
  };
  std::vector<Local> locals(threads);
  int output = net->prepared()->outputs[0];
  int64_t width = net->prepared()->values[output].elements();
  std::vector<std::vector<ImageError>> errors(variants.size(),
                                              std::vector<ImageError>(samples.count()));
  parallelFor(
      threads, samples.count(),
      [&](int thread, int64_t i) {
        Local &local = locals[thread];
        if (!local.base) {
          local.base = std::make_unique<Workspace>(*base);
          Buffer arena(variantBytes);
          for (const Variant &variant : variants)
            local.variants.emplace_back(variant.plan, arena);
        }
        base->run({samples.image(i)}, *local.base);
        for (size_t v = 0; v < variants.size(); ++v) {
          std::vector<const void *> given;
          for (int source : variants[v].sources)
            given.push_back(local.base->value(source));
          variants[v].plan.run(given, local.variants[v]);
          errors[v][i] =
              compareImage(local.base->as<float>(output),
                           local.variants[v].as<float>(variants[v].plan.wanted()[0]), width);
        }
      },
      staged("sensitivity", progress));

  SensitivityTable table;
  for (const PolicyLayer &layer : net->layers())
    table[layer.id] = {};
  for (size_t v = 0; v < variants.size(); ++v) {
    Sensitivity entry{summarize(errors[v]), std::nullopt};
    if (!labelsPath.empty()) {
      int64_t lost = 0;
      for (int64_t i = 0; i < samples.count(); ++i)
        lost += (errors[v][i].referenceTop == (*labels)[i]) - (errors[v][i].top == (*labels)[i]);
      entry.accuracyDrop = double(lost) / samples.count();
    }
    table[variants[v].layer][variants[v].precision] = entry;
  }
  return table;
}
