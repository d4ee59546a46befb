//===- Coupling.cpp - the term that makes a block large --------------------------------------===//

#include "Transforms/Coupling.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

using namespace mlir;
using namespace rnnc;

static constexpr const char* kAttribute = "newton.coupling";

void Coupling::warn() const { (emitWarning(at) << text).attachNote() << note; }

void Coupling::attachTo(Operation* system) const {
  Builder builder(system->getContext());
  system->setAttr(kAttribute, builder.getArrayAttr({LocationAttr(at), builder.getStringAttr(text),
                                                    builder.getStringAttr(note)}));
}

std::optional<Coupling> Coupling::takeFrom(Operation* system) {
  auto parts = dyn_cast_or_null<ArrayAttr>(system->removeAttr(kAttribute));
  if (!parts || parts.size() != 3)
    return std::nullopt;
  auto at = dyn_cast<LocationAttr>(parts[0]);
  auto text = dyn_cast<StringAttr>(parts[1]), note = dyn_cast<StringAttr>(parts[2]);
  if (!at || !text || !note)
    return std::nullopt;
  return Coupling{at, text.str(), note.str()};
}
