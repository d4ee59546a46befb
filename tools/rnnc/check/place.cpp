#include "place.h"

#include "Analysis/Formula.h"

#include <fmt/format.h>

using namespace rnnc;

std::string check::placeText(mlir::Location location) {
  auto place = location->findInstanceOf<mlir::FileLineColLoc>();
  return place ? fmt::format("{}:{}:{}", place.getFilename().str(), place.getLine(),
                             place.getColumn())
               : "an unknown place";
}

std::string check::equationText(newton::SystemOp system, int64_t state) {
  constexpr size_t kLimit = 120;
  mlir::Value value = system.stepBlock().getTerminator()->getOperand(state);
  auto slot = llvm::cast<newton::SlotAttr>(system.getStates()[state]);
  mlir::Operation* by = value.getDefiningOp();
  return fmt::format("{} = {} ({})", slotAtTime(slot, "[t]"),
                     formula(value, system, /*expand=*/true, kLimit),
                     placeText(by ? by->getLoc() : system.getLoc()));
}
