//===- Run.cpp - outputs and values of all samples as .npy files ------------------------------===//

#include "conquer-opt/Evaluator/HalfValues.h"
#include "conquer-opt/Evaluator/SessionSupport.h"

#include <cstring>

#include <sys/stat.h>

using namespace conquer;

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

/// bf16 and f16 go as f32, which holds them exactly: NumPy knows no bf16.
std::optional<NpyType> npyTypeOf(ElementType type) {
  switch (type) {
  case ElementType::F32:
  case ElementType::BF16:
  case ElementType::F16:
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
    size_t bytes = isHalf(value.type) ? value.elements() * sizeof(float) : value.bytes();
    dumps.push_back({static_cast<int>(i), bytes, {}});
    total += bytes * samples.count();
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
          char *to = dump.data.data() + i * dump.bytes;
          if (const Value &of = plan.graph().values[value]; isHalf(of.type))
            widenHalves(of.type, data, to, of.elements());
          else
            std::memcpy(to, data, dump.bytes);
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

Status Session::writeOutput(const Plan &plan, const Samples &samples, size_t index,
                            const std::string &path, const StageProgress &progress) {
  const Value &value = plan.graph().values[plan.graph().outputs[index]];
  if (value.type != ElementType::F32)
    return Error{"output " + std::to_string(index) + " is " + value.typeName(), path, "f32", ""};
  Result<Outputs> outputs = outputsOf(plan, samples, index, "run", progress);
  if (!outputs)
    return outputs.error();
  return writeNpy(path, NpyType::F32, batchShape(value, samples.count()), outputs->values.data());
}

Result<RunResult> Session::run(const Policy *policy, const RunFiles &files,
                               const StageProgress &progress) {
  Result<std::shared_ptr<const Graph>> graph = graphOf(policy);
  if (!graph)
    return graph.error();
  Result<std::shared_ptr<const Samples>> loaded = loadSamples(files.samples);
  if (!loaded)
    return loaded.error();
  const Samples &samples = **loaded;
  Result<Plan> plan = makePlan(*graph);
  if (!plan)
    return plan.error();
  if (Status status = writeOutput(*plan, samples, 0, files.output, progress); !status)
    return status.error();
  if (!files.outputs.empty()) {
    mkdir(files.outputs.c_str(), 0777);
    for (size_t i = 0; i < (*graph)->outputs.size(); ++i) {
      std::string path = files.outputs + "/" + std::to_string(i) + ".npy";
      if (Status status = writeOutput(*plan, samples, i, path, progress); !status)
        return status.error();
    }
  }
  if (!files.values.empty()) {
    PlanOptions options;
    options.observable = true;
    Result<Plan> observable = makePlan(*graph, options);
    if (!observable)
      return observable.error();
    if (Status status = writeValues(*observable, samples, files.values, progress); !status)
      return status.error();
  }
  return RunResult{samples.count(), isExact(**graph)};
}
