//===- Session.cpp - loading, running, comparing ----------------------------------------------===//

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
  Result<std::unique_ptr<Network>> network = Network::load(options.prepared);
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
  if (Status status = checkPolicy(*policy, net->layers(), target.profile); !status)
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

Result<Session::Outputs> Session::outputsOf(const Plan &plan, const Samples &samples,
                                            const char *stage, const StageProgress &progress) {
  int output = plan.graph().outputs[0];
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
  Result<Outputs> outputs = outputsOf(*plan, samples, "f32", progress);
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
    Result<Outputs> computed = outputsOf(*plan, samples, "accuracy", progress);
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

std::string conquer::valueFileName(const std::string &id) {
  std::string name;
  for (char c : id) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 c == '-' || c == '_' || (c == '.' && !name.empty());
    if (plain) {
      name += c;
      continue;
    }
    const char *digits = "0123456789ABCDEF";
    auto byte = static_cast<unsigned char>(c);
    name += '%';
    name += digits[byte >> 4];
    name += digits[byte & 15];
  }
  return name + ".npy";
}

namespace {

std::optional<NpyType> npyTypeOf(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return NpyType::F32;
  case ElementType::I8:
  case ElementType::I4:
    return NpyType::I8;
  case ElementType::I16:
    return NpyType::I16;
  case ElementType::I32:
    return NpyType::I32;
  case ElementType::I48:
  case ElementType::I64:
    return NpyType::I64;
  case ElementType::Bool:
    return NpyType::Bool;
  case ElementType::Shape:
  case ElementType::BF16: // readNpy knows neither
  case ElementType::F16:
    return std::nullopt;
  }
  return std::nullopt;
}

std::vector<int64_t> batchShape(const Value &value, int64_t images) {
  std::vector<int64_t> shape = value.shape;
  if (!shape.empty() && shape[0] == 1)
    shape[0] = images;
  else
    shape.insert(shape.begin(), images);
  return shape;
}

} // namespace

Status Session::writeValues(const Plan &plan, const Samples &samples, const std::string &folder,
                            const StageProgress &progress) {
  mkdir(folder.c_str(), 0777);
  struct Dump {
    int value;
    size_t bytes;
    std::vector<char> data;
  };
  std::vector<Dump> dumps;
  std::vector<int> dumpOf(plan.graph().values.size(), -1);
  size_t total = 0;
  for (size_t i = 0; i < dumpOf.size(); ++i) {
    const Value &value = plan.graph().values[i];
    if (value.id.empty() || value.constant || !npyTypeOf(value.type))
      continue;
    dumpOf[i] = dumps.size();
    dumps.push_back({static_cast<int>(i), value.bytes(), {}});
    total += value.bytes() * samples.count();
  }
  constexpr size_t maxBytes = size_t(4) << 30;
  if (total > maxBytes)
    return Error{"the values of these samples take " + std::to_string(total >> 20) + " MiB", folder,
                 "at most " + std::to_string(maxBytes >> 20) + " MiB", "give fewer samples"};
  for (Dump &dump : dumps)
    dump.data.resize(dump.bytes * samples.count());
  Workspaces workspaces(plan, threadCount);
  parallelFor(
      threadCount, samples.count(),
      [&](int thread, int64_t i) {
        plan.run({samples.image(i)}, workspaces[thread], [&](int value, const void *data) {
          if (dumpOf[value] < 0)
            return;
          Dump &dump = dumps[dumpOf[value]];
          std::memcpy(dump.data.data() + i * dump.bytes, data, dump.bytes);
        });
      },
      staged("values", progress));
  for (const Dump &dump : dumps) {
    const Value &value = plan.graph().values[dump.value];
    if (Status status = writeNpy(folder + "/" + valueFileName(value.id), *npyTypeOf(value.type),
                                 batchShape(value, samples.count()), dump.data.data());
        !status)
      return status;
  }
  return success();
}

Result<int64_t> Session::run(const Policy *policy, const std::string &samplesPath,
                             const std::string &output, const std::string &values,
                             const StageProgress &progress) {
  Result<std::shared_ptr<const Graph>> graph = graphOf(policy);
  if (!graph)
    return graph.error();
  Result<std::shared_ptr<const Samples>> loaded = loadSamples(samplesPath);
  if (!loaded)
    return loaded.error();
  const Samples &samples = **loaded;
  Result<Plan> plan = makePlan(*graph);
  if (!plan)
    return plan.error();
  Result<Outputs> outputs = outputsOf(*plan, samples, "run", progress);
  if (!outputs)
    return outputs.error();
  const Value &value = (*graph)->values[(*graph)->outputs[0]];
  if (Status status = writeNpy(output, NpyType::F32, batchShape(value, samples.count()),
                               outputs->values.data());
      !status)
    return status.error();
  if (!values.empty()) {
    PlanOptions options;
    options.observable = true;
    Result<Plan> observable = makePlan(*graph, options);
    if (!observable)
      return observable.error();
    if (Status status = writeValues(*observable, samples, values, progress); !status)
      return status.error();
  }
  return samples.count();
}
