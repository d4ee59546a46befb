//===- Reads.cpp - which arrays the inputs of a system read, and how many steps ago ----------===//

#include "Target/Cuda/Reads.h"
#include "Target/Cuda/Expressions.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using namespace rnnc;
using namespace rnnc::cuda;
using llvm::Twine;

InputReads rnnc::cuda::readsOf(newton::CellOp cell, ArrayAttr inputs) {
  InputReads reads;
  auto slots = llvm::to_vector(inputs.getAsRange<newton::SlotAttr>());
  if (llvm::all_of(slots, [](newton::SlotAttr slot) { return slot.getBack() == 0; }))
    return reads;
  llvm::DenseMap<Attribute, int> first; // the input that reads the array of a slot
  for (auto [i, slot] : llvm::enumerate(slots)) {
    auto array = newton::SlotAttr::get(slot.getContext(), slot.getTensor(), slot.getLanes(),
                                       slot.getAt(), /*back=*/0);
    reads.source.push_back(first.try_emplace(array, static_cast<int>(i)).first->second);
    reads.back.push_back(static_cast<int>(slot.getBack()));
    auto tensor = cast<newton::TensorOp>(SymbolTable::lookupSymbolIn(cell, slot.getTensor()));
    reads.fill.push_back(tensor.getFill().convertToDouble());
  }
  return reads;
}

void rnnc::cuda::printReads(const InputReads& reads, LineWriter& out) {
  if (reads.back.empty())
    return;
  std::vector<std::string> items;
  for (auto [source, back] : llvm::zip(reads.source, reads.back))
    items.push_back(("rnn::read<" + Twine(source) + ", " + Twine(back) + ">").str());
  std::string begin = "  using reads = rnn::reads<";
  out.line(wrapped(begin, items, ">;", begin.size()));
  out.line("  static __device__ __forceinline__ void before(real (&fill)[" +
           Twine(reads.back.size()) + "]) {");
  for (auto [i, value] : llvm::enumerate(reads.fill))
    out.line("    fill[" + Twine(i) + "] = " + numberText(llvm::APFloat(value)) + ";");
  out.line("  }");
}

std::string rnnc::cuda::slotName(newton::SlotAttr slot, int64_t back) {
  std::string name = slot.display();
  if (back == 0)
    return name;
  return name + "_prev" + (back > 1 ? std::to_string(back) : "");
}
