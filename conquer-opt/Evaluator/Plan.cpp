//===- Plan.cpp - a graph compiled to steps ---------------------------------------------------===//

#include "conquer-opt/Evaluator/Plan.h"

#include <algorithm>

using namespace conquer;

namespace {

constexpr size_t maxArenaBytes = size_t(8) << 30;

/// Operations that only rename their first operand's elements.
bool isRename(const Node &node) { return node.op == "tosa.reshape" || node.op == "tosa.identity"; }

size_t alignUp(size_t bytes) { return (bytes + 63) / 64 * 64; }

/// First fit in one arena: blocks in use, sorted by offset.
class Arena {
public:
  size_t allocate(size_t bytes) {
    // 64 bytes to spare, for vector kernels that read a little further.
    bytes = alignUp(bytes) + 64;
    size_t offset = 0;
    auto at = blocks.begin();
    for (; at != blocks.end() && at->first - offset < bytes; ++at)
      offset = at->second;
    blocks.insert(at, {offset, offset + bytes});
    top = std::max(top, offset + bytes);
    return offset;
  }
  void release(size_t offset) {
    blocks.erase(std::find_if(blocks.begin(), blocks.end(),
                              [&](const auto &block) { return block.first == offset; }));
  }
  size_t size() const { return top; }

private:
  std::vector<std::pair<size_t, size_t>> blocks;
  size_t top = 0;
};

} // namespace

/// Builds a plan in four passes: which nodes are needed, what folds, steps, placement.
class Plan::Builder {
public:
  Builder(Plan &plan, const cq_level &level, PackCache &packs)
      : plan(plan), graph(*plan.source), level(level), packs(packs), users(graph.values.size()) {
    folded.values = graph.values;
  }

  Status build() {
    plan.places.resize(graph.values.size());
    plan.renames.resize(graph.values.size());
    for (size_t i = 0; i < graph.values.size(); ++i)
      if (graph.values[i].constant)
        setConstant(i, graph.values[i].constant);
    for (int value : plan.options.given)
      plan.places[value] = {Place::Given, 0, -1, nullptr};
    findNeeded();
    fuseClamps();
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      if (needed[i])
        if (Status status = addNode(graph.nodes[i], i); !status)
          return status;
    for (int value : plan.options.wanted)
      if (plan.places[value].kind == Place::None)
        return Error{"a wanted value is never computed", graph.values[value].id, "", ""};
    return place();
  }

private:
  Plan &plan;
  const Graph &graph;
  const cq_level &level;
  PackCache &packs;
  Graph folded;                        ///< the graph's values, with folded constants
  std::vector<std::vector<int>> users; ///< needed nodes that read a value
  std::vector<bool> needed;
  std::map<int, int> clampOf; ///< node of a convolution -> node of its folded clamp

  bool isGiven(int value) const { return plan.places[value].kind == Place::Given; }
  bool isWanted(int value) const {
    const auto &wanted = plan.options.wanted;
    return std::find(wanted.begin(), wanted.end(), value) != wanted.end();
  }

  void setConstant(int value, std::shared_ptr<const Buffer> buffer) {
    folded.values[value].constant = buffer;
    plan.places[value] = {Place::Constant, 0, -1, std::move(buffer)};
  }

  void findNeeded() {
    needed.assign(graph.nodes.size(), false);
    std::vector<bool> live(graph.values.size());
    for (int value : plan.options.wanted)
      live[value] = true;
    for (size_t i = graph.nodes.size(); i-- > 0;) {
      const Node &node = graph.nodes[i];
      for (int output : node.outputs)
        needed[i] = needed[i] || (live[output] && !isGiven(output));
      if (plan.options.observable || plan.options.keepAll)
        needed[i] = true;
      if (!needed[i])
        continue;
      for (int input : node.inputs) {
        live[input] = true;
        users[input].push_back(i);
      }
    }
  }

  /// A f32 convolution whose only reader is a clamp does the clamping itself.
  void fuseClamps() {
    if (plan.options.keepAll || plan.options.observable)
      return;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node &conv = graph.nodes[i];
      if (!needed[i] || (conv.op != "tosa.conv2d" && conv.op != "tosa.depthwise_conv2d") ||
          conv.inputs.size() != 5 || conv.outputs.size() != 1)
        continue;
      int result = conv.outputs[0];
      if (users[result].size() != 1 || isWanted(result) || isGiven(result) ||
          graph.values[result].type != ElementType::F32 || !graph.values[conv.inputs[1]].constant ||
          !graph.values[conv.inputs[2]].constant)
        continue;
      int clamp = users[result][0];
      const Node &node = graph.nodes[clamp];
      NodeView view(graph, node, level, packs);
      // Only the default treatment of NaN is what the kernels do.
      if (node.op == "tosa.clamp" && !view.ignoresNan() && node.outputs.size() == 1)
        clampOf[i] = clamp;
    }
  }

  Status addNode(const Node &node, int index) {
    for (const auto &[conv, clamp] : clampOf)
      if (clamp == index)
        return success(); // part of its convolution
    if (isRename(node))
      return addRename(node);
    bool constant = true;
    for (int input : node.inputs) {
      if (plan.places[input].kind == Place::None)
        return Error{node.op + ": an operand is never computed", node.id, "", ""};
      constant = constant && folded.values[input].constant;
    }
    Node resolved = node;
    NodeView view(folded, resolved, level, packs);
    if (auto fused = clampOf.find(index); fused != clampOf.end()) {
      const Node &clamp = graph.nodes[fused->second];
      NodeView clampView(graph, clamp, level, packs);
      view.clampMin = static_cast<float>(clampView.number("min_val"));
      view.clampMax = static_cast<float>(clampView.number("max_val"));
      resolved.outputs = clamp.outputs;
    }
    Result<Step> step = makeStep(view);
    if (!step)
      return step.error();
    if (constant)
      return foldNode(resolved, *step);
    for (int output : resolved.outputs)
      plan.places[output] = {Place::Arena, 0, -1, nullptr};
    plan.entries.push_back({std::move(*step), resolved.inputs, resolved.outputs, 0});
    return success();
  }

  Status addRename(const Node &node) {
    if (node.inputs.empty() || node.outputs.size() != 1)
      return Error{node.op + ": malformed", node.id, "", ""};
    int from = node.inputs[0], to = node.outputs[0];
    if (graph.values[from].bytes() != graph.values[to].bytes())
      return Error{node.op + ": operand " + graph.values[from].typeName() + " and result " +
                       graph.values[to].typeName() + " differ in size",
                   node.id, "", ""};
    if (folded.values[from].constant)
      setConstant(to, folded.values[from].constant);
    else {
      plan.places[to] = {Place::Alias, 0, resolve(from), nullptr};
      plan.renames[resolve(from)].push_back(to);
    }
    return success();
  }

  /// The value that holds an alias's elements.
  int resolve(int value) const {
    const Place &place = plan.places[value];
    return place.kind == Place::Alias ? place.target : value;
  }

  Status foldNode(const Node &node, const Step &step) {
    Buffer scratch(step.scratchBytes);
    std::vector<const void *> inputs;
    inputs.reserve(node.inputs.size());
    for (int input : node.inputs)
      inputs.push_back(folded.values[input].constant->data());
    std::vector<void *> outputs;
    std::vector<std::shared_ptr<Buffer>> buffers;
    for (int output : node.outputs) {
      buffers.push_back(std::make_shared<Buffer>(graph.values[output].bytes()));
      outputs.push_back(buffers.back()->data());
    }
    step.run({inputs.data(), outputs.data(), scratch.data()});
    for (size_t i = 0; i < outputs.size(); ++i)
      setConstant(node.outputs[i], buffers[i]);
    return success();
  }

  Status place() {
    // The last step that reads each holder of elements.
    std::vector<size_t> last(graph.values.size(), 0);
    for (size_t i = 0; i < plan.entries.size(); ++i)
      for (int input : plan.entries[i].inputs)
        last[resolve(input)] = i;
    for (int value : plan.options.wanted)
      last[resolve(value)] = plan.entries.size();
    Arena arena;
    for (size_t i = 0; i < plan.entries.size(); ++i) {
      Entry &entry = plan.entries[i];
      for (int output : entry.outputs)
        plan.places[output].offset = arena.allocate(graph.values[output].bytes());
      entry.scratch = arena.allocate(entry.step.scratchBytes);
      arena.release(entry.scratch);
      if (!plan.options.keepAll)
        releaseAfter(i, last, arena);
    }
    plan.arenaSize = arena.size();
    if (plan.arenaSize > maxArenaBytes)
      return Error{
          "the network needs " + std::to_string(plan.arenaSize >> 20) + " MiB of activations", "",
          "at most " + std::to_string(maxArenaBytes >> 20) + " MiB", "use a smaller input"};
    return success();
  }

  /// Gives back the buffers that no step after `index` reads.
  void releaseAfter(size_t index, const std::vector<size_t> &last, Arena &arena) {
    const Entry &entry = plan.entries[index];
    std::vector<int> holders = entry.outputs;
    for (int input : entry.inputs)
      holders.push_back(resolve(input));
    std::sort(holders.begin(), holders.end());
    holders.erase(std::unique(holders.begin(), holders.end()), holders.end());
    for (int value : holders) {
      bool isOutput =
          std::find(entry.outputs.begin(), entry.outputs.end(), value) != entry.outputs.end();
      bool unread = isOutput && last[value] <= index;
      if (plan.places[value].kind == Place::Arena &&
          (unread || (!isOutput && last[value] == index)))
        arena.release(plan.places[value].offset);
    }
  }
};

Result<Plan> Plan::create(std::shared_ptr<const Graph> graph, const cq_level &level,
                          PackCache &packs, const PlanOptions &options) {
  Plan plan;
  plan.source = std::move(graph);
  plan.options = options;
  if (plan.options.given.empty())
    plan.options.given = plan.source->inputs;
  if (plan.options.wanted.empty())
    plan.options.wanted = plan.source->outputs;
  Builder builder(plan, level, packs);
  if (Status status = builder.build(); !status)
    return status.error();
  return plan;
}

Workspace::Workspace(const Plan &plan) : Workspace(plan, Buffer(plan.arenaBytes())) {}

Workspace::Workspace(const Plan &plan, Buffer memory)
    : arena(std::move(memory)), pointers(plan.places.size()) {
  for (size_t i = 0; i < pointers.size(); ++i) {
    const Plan::Place &place = plan.places[i];
    if (place.kind == Plan::Place::Constant)
      pointers[i] = const_cast<char *>(place.constant->data());
    else if (place.kind == Plan::Place::Arena)
      pointers[i] = arena.data() + place.offset;
  }
  for (size_t i = 0; i < pointers.size(); ++i)
    if (plan.places[i].kind == Plan::Place::Alias)
      pointers[i] = pointers[plan.places[i].target];
}

void Plan::run(const std::vector<const void *> &given, Workspace &workspace,
               const Observer &observer) const {
  std::vector<void *> &pointers = workspace.pointers;
  for (size_t i = 0; i < options.given.size(); ++i)
    pointers[options.given[i]] = const_cast<void *>(given[i]);
  for (size_t i = 0; i < pointers.size(); ++i)
    if (places[i].kind == Place::Alias)
      pointers[i] = pointers[places[i].target];
  auto observe = [&](int value) {
    observer(value, pointers[value]);
    for (int rename : renames[value])
      observer(rename, pointers[value]);
  };
  if (observer)
    for (int value : options.given)
      observe(value);
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  for (const Entry &entry : entries) {
    inputs.clear();
    outputs.clear();
    for (int input : entry.inputs)
      inputs.push_back(pointers[input]);
    for (int output : entry.outputs)
      outputs.push_back(pointers[output]);
    entry.step.run({inputs.data(), outputs.data(), workspace.arena.data() + entry.scratch});
    if (observer)
      for (int output : entry.outputs)
        observe(output);
  }
}
