//===- ExplainStages.cpp - what was moved out of the recurrence, as text ---------------------===//

#include "Analysis/ExplainStages.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace rnnc;
using namespace rnnc::newton;

namespace {

class StageReader {
public:
  StageReader(CellOp cell, llvm::function_ref<int64_t(StringRef)> sizeOf)
      : cell(cell), sizeOf(sizeOf) {}

  StageText read(Operation* op) {
    if (auto outer = dyn_cast<OuterOp>(op))
      return readOuter(outer);
    auto product = dyn_cast<ProductOp>(op);
    return product ? readProduct(product) : readMap(op);
  }

private:
  TensorOp tensor(Attribute name) {
    return cast<TensorOp>(SymbolTable::lookupSymbolIn(cell, cast<FlatSymbolRefAttr>(name)));
  }
  double elements(TensorOp tensor) {
    double count = 1;
    for (auto [dim, fixed] : llvm::zip(tensor.getDims(), tensor.getSizes())) {
      int64_t size = fixed < 0 ? sizeOf(cast<StringAttr>(dim).getValue()) : fixed;
      if (size < 0)
        return -1;
      count *= static_cast<double>(size);
    }
    return count;
  }
  static bool isOnce(TensorOp tensor) {
    return tensor.getRole() == Role::Param || tensor.getRole() == Role::Derived;
  }
  static std::string at(TensorOp tensor, int64_t back = 0) {
    std::string name = tensor.getSymName().str();
    if (isOnce(tensor))
      return name;
    return name + (back ? "[t-" + std::to_string(back) + "]" : "[t]");
  }
  void add(double& sum, double count) { sum = sum < 0 || count < 0 ? -1 : sum + count; }

  StageText readProduct(ProductOp product);
  StageText readOuter(OuterOp outer);
  StageText readMap(Operation* op);

  CellOp cell;
  llvm::function_ref<int64_t(StringRef)> sizeOf;
};

} // namespace

StageText StageReader::readProduct(ProductOp product) {
  StageText text{product.getPhase(), true, {}, 0, 0};
  TensorOp sequence = tensor(product.getSequenceAttr());
  // Every number of the sequence meets each column of the weight.
  double of = elements(sequence);
  add(text.numbers, of);
  for (auto [weight, bias, result] :
       llvm::zip(product.getWeights(), product.getBiases(), product.getResults())) {
    std::string left = at(tensor(weight)), right = at(sequence, product.getBack());
    if (product.getLeft())
      std::swap(left, right);
    std::string line = at(tensor(result)) + " = " + left + " @ " + right;
    if (!isa<UnitAttr>(bias))
      line += " + " + at(tensor(bias));
    text.equations.push_back(line);
    double weights = elements(tensor(weight)), results = elements(tensor(result));
    add(text.numbers, results);
    // The contracted axis is the weight's last one, or the one behind the heads.
    ArrayRef<int64_t> sizes = tensor(weight).getSizes();
    int64_t axis = product.getLeft() ? product.getHeads() : std::ssize(sizes) - 1;
    StringRef name = cast<StringAttr>(tensor(weight).getDims()[axis]).getValue();
    int64_t contracted = sizes[axis] < 0 ? sizeOf(name) : sizes[axis];
    add(text.multiplyAdds,
        weights < 0 || contracted < 0 ? -1.0 : results * static_cast<double>(contracted));
  }
  return text;
}

StageText StageReader::readOuter(OuterOp outer) {
  StageText text{outer.getPhase(), true, {}, 0, 0};
  TensorOp left = tensor(outer.getLeft().getTensor()), right = tensor(outer.getRight().getTensor()),
           result = tensor(outer.getResult().getTensor());
  text.equations.push_back(result.getSymName().str() + (outer.getNegative() ? " -= " : " += ") +
                           "sum of " + at(left) + " * " + at(right));
  add(text.numbers, elements(left));
  add(text.numbers, elements(right));
  add(text.multiplyAdds, elements(result));
  return text;
}

StageText StageReader::readMap(Operation* op) {
  auto phase = op->getAttrOfType<PhaseAttr>("phase").getValue();
  StageText text{phase, false, {}, 0, 0};
  auto inputs = op->getAttrOfType<ArrayAttr>("inputs");
  auto outputs = op->getAttrOfType<ArrayAttr>("outputs");
  llvm::DenseSet<Attribute> seen;
  SmallVector<ArrayAttr> lists{inputs, outputs};
  if (phase == Phase::Call) // in every step they are at hand
    lists.push_back(op->getAttrOfType<ArrayAttr>("params"));
  for (ArrayAttr list : lists)
    for (auto slot : list.getAsRange<SlotAttr>())
      if (seen.insert(slot.getTensor()).second)
        add(text.numbers, elements(tensor(slot.getTensor())));
  TensorOp result = tensor(cast<SlotAttr>(outputs[0]).getTensor());
  std::string holds = result.getHolds() ? result.getHolds()->str() : "...";
  text.equations.push_back(at(result) + " = " + holds);
  return text;
}

std::vector<StageText> rnnc::stageTexts(CellOp cell,
                                        llvm::function_ref<int64_t(StringRef)> sizeOf) {
  std::vector<StageText> texts;
  StageReader reader(cell, sizeOf);
  for (Operation* op : cell.stages())
    texts.push_back(reader.read(op));
  return texts;
}

std::string rnnc::explainStages(CellOp cell, llvm::function_ref<int64_t(StringRef)> sizeOf) {
  constexpr StringRef kHeads[] = {"once a call", "before the solve, over all steps",
                                  "after the solve, over all steps"};
  std::string text;
  llvm::raw_string_ostream out(text);
  std::optional<Phase> last;
  std::vector<StageText> stages = stageTexts(cell, sizeOf);
  bool isF64 = !cell.systems().empty() &&
               cell.systems().front()->getAttrOfType<TypeAttr>("compute").getValue().isF64();
  for (const StageText& stage : stages) {
    if (last != stage.phase)
      out << "\n" << kHeads[static_cast<int>(stage.phase)] << "\n";
    last = stage.phase;
    StringRef head = stage.isProduct ? "  product     " : "  map         ";
    for (const std::string& line : stage.equations) {
      out << head << line << "\n";
      head = "              ";
    }
    if (stage.numbers < 0)
      continue;
    StringRef each = stage.phase == Phase::Call ? "a call" : "a step";
    out << "              ";
    if (stage.isProduct)
      out << llvm::format("%.0f", stage.multiplyAdds) << " multiply-adds and ";
    out << llvm::format("%.0f", stage.numbers * (isF64 ? 8 : 4)) << " bytes " << each << "\n";
  }
  return text;
}
