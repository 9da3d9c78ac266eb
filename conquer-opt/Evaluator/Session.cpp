//===- Session.cpp - loading a network, comparing its outputs
//-----------------------------------===//

#include "conquer-opt/Evaluator/SessionSupport.h"

#include "support/Json.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <thread>

#include <sys/stat.h>

using namespace conquer;

namespace {

constexpr size_t maxPackBytes = size_t(2) << 30;
constexpr size_t maxReferenceBytes = size_t(512) << 20;

bool hasFeatures(const cq_level &level, const std::vector<std::string> &features) {
  for (const char *const *feature = level.features; *feature; ++feature)
    if (!std::binary_search(features.begin(), features.end(), *feature))
      return false;
  return true;
}

/// The profile's level if this CPU has it, else the best that it has. Integers do not depend on it.
const cq_level *chooseLevel(const Profile &profile) {
  std::vector<std::string> features = hostFeatures();
  const cq_level *wanted = cq_find_level(profile.kernelLevel.c_str());
  if (wanted && hasFeatures(*wanted, features))
    return wanted;
  const cq_level *best = nullptr;
  for (const cq_level *const *level = cq_levels(); *level; ++level)
    if (hasFeatures(**level, features))
      best = *level;
  return best;
}

/// Checks what every request relies on.
Status checkGraph(const Graph &graph, const std::string &where) {
  if (graph.inputs.size() != 1 || graph.outputs.empty())
    return Error{"the network has " + std::to_string(graph.inputs.size()) + " inputs and " +
                     std::to_string(graph.outputs.size()) + " outputs",
                 where, "one input and at least one output", ""};
  const Value &input = graph.values[graph.inputs[0]], &output = graph.values[graph.outputs[0]];
  if (input.type != ElementType::F32 || input.shape.empty() || input.shape[0] != 1)
    return Error{"the input is " + input.typeName(), where, "f32 with a first dimension of 1",
                 "import the network for batch size 1"};
  if (output.type != ElementType::F32 || output.elements() < 1)
    return Error{"the first output is " + output.typeName(), where, "f32, not empty", ""};
  return success();
}

} // namespace

Result<std::unique_ptr<Session>> Session::create(const SessionOptions &options) {
  std::unique_ptr<Session> session(new Session);
  std::string folder = options.profileDir.empty() ? defaultProfileFolder() : options.profileDir;
  Result<Profile> profile = loadProfile(options.profile, folder);
  if (!profile)
    return profile.error();
  session->target = {*profile, options.profile, folder};
  session->kernelLevel = chooseLevel(*profile);
  session->threadCount = options.threads > 0
                             ? options.threads
                             : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  Result<std::unique_ptr<Network>> network = Network::load(options.prepared, *profile);
  if (!network)
    return network.error();
  session->net = std::move(*network);
  if (Status status = checkGraph(*session->net->prepared(), options.prepared); !status)
    return status.error();
  if (!options.calibration.empty()) {
    Result<Calibration> calibration = readCalibration(options.calibration);
    if (!calibration)
      return calibration.error();
    session->ranges = *calibration;
  }
  return session;
}

Result<std::shared_ptr<const Session::Samples>> Session::loadSamples(const std::string &path) {
  struct stat status;
  std::string key = path;
  if (stat(path.c_str(), &status) == 0)
    key += ":" + std::to_string(status.st_size) + ":" + std::to_string(status.st_mtim.tv_sec) +
           "." + std::to_string(status.st_mtim.tv_nsec);
  if (lastSamples.second && lastSamples.first == key)
    return lastSamples.second;
  const Graph &graph = *net->prepared();
  lastSamples = {};
  Result<NpyArray> array = readSamples(path, graph.values[graph.inputs[0]].shape);
  if (!array)
    return array.error();
  auto samples = std::make_shared<Samples>();
  samples->hash = hashBytes(array->bytes.data(), array->bytes.size(), array->shape[0]);
  samples->array = std::move(*array);
  lastSamples = {key, samples};
  return lastSamples.second;
}

Result<Plan> Session::makePlan(std::shared_ptr<const Graph> graph, const PlanOptions &options) {
  if (packs.bytes() > maxPackBytes)
    packs.clear();
  return Plan::create(std::move(graph), *kernelLevel, packs, options);
}

Result<std::shared_ptr<const Graph>> Session::graphOf(const Policy *policy, bool probe) {
  if (!policy)
    return net->prepared();
  if (Status status = checkPolicy(*policy, net->layers(), target.profile.name); !status)
    return status.error();
  bool allFloat = std::all_of(policy->layers.begin(), policy->layers.end(),
                              [](const auto &layer) { return layer.second == Precision::F32; });
  if (allFloat && !probe)
    return net->prepared();
  if (!allFloat && ranges.ranges.empty())
    return Error{"the network is not calibrated", "policy", "ranges of its activations",
                 "start with --calibration, or send calibrate first"};
  Result<std::shared_ptr<const Graph>> graph = net->quantized(*policy, ranges, target, probe);
  if (!graph)
    return graph;
  if (Status status = checkGraph(**graph, "quantised network"); !status)
    return status.error();
  return graph;
}

Result<Session::Outputs> Session::outputsOf(const Plan &plan, const Samples &samples, size_t index,
                                            const char *stage, const StageProgress &progress) {
  int output = plan.graph().outputs[index];
  Outputs outputs;
  outputs.width = plan.graph().values[output].elements();
  outputs.values.resize(outputs.width * samples.count());
  Workspaces workspaces(plan, threadCount);
  parallelFor(
      threadCount, samples.count(),
      [&](int thread, int64_t i) {
        Workspace &workspace = workspaces[thread];
        plan.run({samples.image(i)}, workspace);
        std::memcpy(outputs.values.data() + i * outputs.width, workspace.value(output),
                    outputs.width * sizeof(float));
      },
      staged(stage, progress));
  return outputs;
}

Result<std::shared_ptr<const Session::Outputs>>
Session::referenceOutputs(const Samples &samples, const StageProgress &progress) {
  for (auto at = references.begin(); at != references.end(); ++at)
    if (at->first == samples.hash) {
      references.splice(references.begin(), references, at);
      return references.front().second;
    }
  Result<Plan> plan = makePlan(net->prepared());
  if (!plan)
    return plan.error();
  Result<Outputs> outputs = outputsOf(*plan, samples, 0, "f32", progress);
  if (!outputs)
    return outputs.error();
  auto finite = [](float value) { return std::isfinite(value); };
  if (auto at = std::find_if_not(outputs->values.begin(), outputs->values.end(), finite);
      at != outputs->values.end())
    return Error{"the f32 network gives " + std::to_string(*at) + " for sample " +
                     std::to_string((at - outputs->values.begin()) / outputs->width),
                 "", "finite outputs to compare with", "check the model and its preprocessing"};
  references.emplace_front(samples.hash, std::make_shared<const Outputs>(std::move(*outputs)));
  size_t bytes = 0;
  for (auto at = references.begin(); at != references.end();) {
    bytes += at->second->values.size() * sizeof(float);
    at = bytes > maxReferenceBytes && at != references.begin() ? references.erase(at)
                                                               : std::next(at);
  }
  return references.front().second;
}

Result<AccuracyResult> Session::accuracy(const Policy &policy, const std::string &samplesPath,
                                         const std::string &labelsPath,
                                         const StageProgress &progress) {
  Result<std::shared_ptr<const Graph>> graph = graphOf(&policy);
  if (!graph)
    return graph.error();
  Result<std::shared_ptr<const Samples>> loaded = loadSamples(samplesPath);
  if (!loaded)
    return loaded.error();
  const Samples &samples = **loaded;
  Result<std::vector<int64_t>> labels = readLabels(labelsPath, samples.count());
  if (!labels)
    return labels.error();
  Result<std::shared_ptr<const Outputs>> reference = referenceOutputs(samples, progress);
  if (!reference)
    return reference.error();
  std::shared_ptr<const Outputs> outputs = *reference;
  if (*graph != net->prepared()) {
    Result<Plan> plan = makePlan(*graph);
    if (!plan)
      return plan.error();
    Result<Outputs> computed = outputsOf(*plan, samples, 0, "accuracy", progress);
    if (!computed)
      return computed.error();
    outputs = std::make_shared<const Outputs>(std::move(*computed));
  }
  if (outputs->width != (*reference)->width)
    return Error{"the quantised network's output has another size than the f32 network's", "", "",
                 ""};
  std::vector<ImageError> errors(samples.count());
  std::vector<int64_t> tops, referenceTops;
  for (int64_t i = 0; i < samples.count(); ++i) {
    errors[i] = compareImage((*reference)->image(i), outputs->image(i), outputs->width);
    tops.push_back(errors[i].top);
    referenceTops.push_back(errors[i].referenceTop);
  }
  AccuracyResult result;
  result.comparison = summarize(errors);
  result.images = std::move(errors);
  result.hasLabels = !labelsPath.empty();
  if (result.hasLabels) {
    result.correct = correctness(tops, *labels);
    result.correctF32 = correctness(referenceTops, *labels);
    auto share = [](const std::string &text) {
      return double(std::count(text.begin(), text.end(), '1')) / text.size();
    };
    result.top1 = share(result.correct);
    result.top1F32 = share(result.correctF32);
  }
  return result;
}
