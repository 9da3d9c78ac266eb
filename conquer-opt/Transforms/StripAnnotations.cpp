//===- StripAnnotations.cpp - remove the attributes that only CONQuER reads -------------------===//

#include "conquer-opt/Transforms/Passes.h"

using namespace mlir;

namespace conquer {
#define GEN_PASS_DEF_STRIPANNOTATIONS
#include "conquer-opt/Transforms/Passes.h.inc"
} // namespace conquer

namespace {

bool isAnnotation(StringRef name) {
  return name.starts_with("conquer.") || name == "tosa.target_env";
}

DictionaryAttr stripped(DictionaryAttr attributes) {
  SmallVector<NamedAttribute> kept;
  for (NamedAttribute attribute : attributes)
    if (!isAnnotation(attribute.getName()))
      kept.push_back(attribute);
  return DictionaryAttr::get(attributes.getContext(), kept);
}

struct StripAnnotations : conquer::impl::StripAnnotationsBase<StripAnnotations> {
  using StripAnnotationsBase::StripAnnotationsBase;

  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      op->setDiscardableAttrs(stripped(op->getDiscardableAttrDictionary()));
      auto function = dyn_cast<func::FuncOp>(op);
      if (!function)
        return;
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (DictionaryAttr attributes = function.getArgAttrDict(i))
          function.setArgAttrs(i, stripped(attributes));
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        if (DictionaryAttr attributes = function.getResultAttrDict(i))
          function.setResultAttrs(i, stripped(attributes));
    });
  }
};

} // namespace
