//===- Calibrate.cpp - ranges of all activations ----------------------------------------------===//
//
// One pass over the samples finds the extremes of every value with an id; methods that need it make
// a second pass for histograms between them.
//
//===------------------------------------------------------------------------------------------===//

#include "conquer-opt/Evaluator/SessionSupport.h"

#include <algorithm>

using namespace conquer;

namespace {

/// Runs the plan on all samples and adds each value that has a slot to its statistic; one list of
/// statistics per thread.
template <typename Samples, typename Statistic>
void observe(const Plan &plan, const Samples &samples, const std::vector<int> &slotOf,
             std::vector<std::vector<Statistic>> &perThread, const Progress &progress) {
  int threads = static_cast<int>(perThread.size());
  Workspaces workspaces(plan, threads);
  parallelFor(
      threads, samples.count(),
      [&](int thread, int64_t i) {
        plan.run({samples.image(i)}, workspaces[thread], [&](int value, const void *data) {
          if (slotOf[value] >= 0)
            perThread[thread][slotOf[value]].add(static_cast<const float *>(data),
                                                 plan.graph().values[value].elements());
        });
      },
      progress);
}

} // namespace

Result<std::vector<Extremes>> Session::observeExtremes(const Plan &plan, const Samples &samples,
                                                       const std::vector<int> &slotOf,
                                                       const StageProgress &progress) {
  int slots = *std::max_element(slotOf.begin(), slotOf.end()) + 1;
  std::vector<std::vector<Extremes>> perThread(threadCount, std::vector<Extremes>(slots));
  observe(plan, samples, slotOf, perThread, staged("calibrate", progress));
  const Graph &graph = plan.graph();
  std::vector<Extremes> merged(slots);
  for (const std::vector<Extremes> &part : perThread)
    for (int slot = 0; slot < slots; ++slot)
      merged[slot].merge(part[slot]);
  for (size_t i = 0; i < slotOf.size(); ++i)
    if (slotOf[i] >= 0 && !merged[slotOf[i]].finite)
      return Error{"the f32 network computes values that are not finite", graph.values[i].id,
                   "finite activations on the calibration samples",
                   "check the model and the samples"};
  return merged;
}

std::vector<Histogram> Session::observeHistograms(const Plan &plan, const Samples &samples,
                                                  const std::vector<int> &slotOf,
                                                  const std::vector<Extremes> &extremes,
                                                  const StageProgress &progress) {
  std::vector<Histogram> empty(extremes.begin(), extremes.end());
  std::vector<std::vector<Histogram>> perThread(threadCount, empty);
  observe(plan, samples, slotOf, perThread, staged("histograms", progress));
  for (int thread = 1; thread < threadCount; ++thread)
    for (size_t slot = 0; slot < extremes.size(); ++slot)
      perThread[0][slot].merge(perThread[thread][slot]);
  return perThread[0];
}

Result<Calibration> Session::calibrate(const std::string &samplesPath, RangeMethod method,
                                       double percentile, const StageProgress &progress) {
  Result<std::shared_ptr<const Samples>> loaded = loadSamples(samplesPath);
  if (!loaded)
    return loaded.error();
  const Samples &samples = **loaded;
  PlanOptions options;
  options.observable = true;
  Result<Plan> plan = makePlan(net->prepared(), options);
  if (!plan)
    return plan.error();
  const Graph &graph = plan->graph();
  std::vector<int> slotOf(graph.values.size(), -1), valueOf;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const Value &value = graph.values[i];
    if (value.id.empty() || value.constant || value.type != ElementType::F32)
      continue;
    slotOf[i] = valueOf.size();
    valueOf.push_back(i);
  }
  if (valueOf.empty())
    return Error{"no value of the network has a conquer.id", "", "prepared IR",
                 "run conquer-opt --conquer-prepare-pipeline first"};
  Result<std::vector<Extremes>> extremes = observeExtremes(*plan, samples, slotOf, progress);
  if (!extremes)
    return extremes.error();
  std::vector<Histogram> histograms(valueOf.size());
  if (method != RangeMethod::MinMax)
    histograms = observeHistograms(*plan, samples, slotOf, *extremes, progress);
  Calibration calibration;
  calibration.samples = samples.count();
  calibration.method = method == RangeMethod::MinMax       ? "minmax"
                       : method == RangeMethod::Percentile ? "percentile"
                                                           : "mse";
  for (size_t slot = 0; slot < valueOf.size(); ++slot) {
    const Extremes &extreme = (*extremes)[slot];
    // A value that folds to a constant is never observed and needs no range.
    if (!extreme.any)
      continue;
    calibration.ranges[graph.values[valueOf[slot]].id] =
        method == RangeMethod::MinMax       ? minMaxRange(extreme)
        : method == RangeMethod::Percentile ? percentileRange(extreme, histograms[slot], percentile)
                                            : mseRange(extreme, histograms[slot]);
  }
  ranges = calibration;
  return calibration;
}
