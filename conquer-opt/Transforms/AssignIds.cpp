//===- AssignIds.cpp - unique and stable ids from the source model's node names ---------------===//

#include "conquer-opt/Analysis/CollectLayers.h"
#include "conquer-opt/Transforms/Checks.h"
#include "conquer-opt/Transforms/Passes.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace conquer {
#define GEN_PASS_DEF_ASSIGNIDSPASS
#include "conquer-opt/Transforms/Passes.h.inc"

namespace {

/// The first name in a location, empty if there is none.
StringRef nameOf(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().getValue();
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations())
      if (StringRef name = nameOf(part); !name.empty())
        return name;
  }
  if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    StringRef callee = nameOf(call.getCallee());
    return callee.empty() ? nameOf(call.getCaller()) : callee;
  }
  return {};
}

/// Hands out ids, each once.
class Ids {
public:
  /// Whether the id was free; it is taken now.
  bool reserve(StringRef id) { return !id.empty() && used.insert(id).second; }

  /// The name itself, or with the first free #2, #3, ...
  std::string make(StringRef name) {
    std::string id = name.str();
    while (!reserve(id))
      id = (name + "#" + Twine(++repeats[name] + 1)).str();
    return id;
  }

  /// `<prefix>_<n>`, counting from 0.
  std::string makeNumbered(StringRef prefix) {
    std::string id;
    do
      id = (prefix + "_" + Twine(numbers[prefix]++)).str();
    while (!reserve(id));
    return id;
  }

private:
  llvm::StringSet<> used;
  llvm::StringMap<unsigned> repeats, numbers;
};

struct AssignIdsPass : impl::AssignIdsPassBase<AssignIdsPass> {
  void runOnOperation() override {
    func::FuncOp func = getNetwork(getOperation());
    func.setName("main");
    std::vector<Operation *> ops = activationOps(func);
    Ids ids;
    reserveExisting(func, ops, ids);
    nameBorder(func, ids);
    for (bool layers : {true, false})
      for (Operation *op : ops)
        if (isLayer(op) == layers && !op->hasAttr(idAttrName))
          op->setAttr(idAttrName, makeId(op, ids));
  }

  /// Existing ids stay, except repetitions of an earlier one.
  static void reserveExisting(func::FuncOp func, ArrayRef<Operation *> ops, Ids &ids) {
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      if (auto id = func.getArgAttrOfType<StringAttr>(i, idAttrName); !id || !ids.reserve(id))
        func.removeArgAttr(i, idAttrName);
    for (unsigned i = 0; i < func.getNumResults(); ++i)
      if (auto id = func.getResultAttrOfType<StringAttr>(i, idAttrName); !id || !ids.reserve(id))
        func.removeResultAttr(i, StringAttr::get(func.getContext(), idAttrName));
    for (Operation *op : ops)
      if (!ids.reserve(getId(op)))
        op->removeAttr(idAttrName);
  }

  static void nameBorder(func::FuncOp func, Ids &ids) {
    for (unsigned i = 0; i < func.getNumArguments(); ++i) {
      if (func.getArgAttr(i, idAttrName))
        continue;
      StringRef name = nameOf(func.getArgument(i).getLoc());
      std::string id = name.empty() ? ids.makeNumbered("input") : ids.make(name);
      func.setArgAttr(i, idAttrName, StringAttr::get(func.getContext(), id));
    }
    for (unsigned i = 0; i < func.getNumResults(); ++i)
      if (!func.getResultAttr(i, idAttrName))
        func.setResultAttr(i, idAttrName,
                           StringAttr::get(func.getContext(), ids.makeNumbered("output")));
  }

  static StringAttr makeId(Operation *op, Ids &ids) {
    StringRef name = nameOf(op->getLoc());
    std::string id = name.empty() ? ids.makeNumbered(op->getName().stripDialect()) : ids.make(name);
    return StringAttr::get(op->getContext(), id);
  }
};

} // namespace
} // namespace conquer
