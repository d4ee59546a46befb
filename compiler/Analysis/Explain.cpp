//===- Explain.cpp - what was derived about a system, as text --------------------------------===//

#include "Analysis/Explain.h"

#include "Analysis/Cost.h"
#include "Analysis/Formula.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mlir;
using namespace rnnc;

std::string rnnc::stateName(newton::SystemOp system, int64_t state) {
  return cast<newton::SlotAttr>(system.getStates()[state]).display();
}

static std::string stateAt(newton::SystemOp system, int64_t state, StringRef time) {
  return slotAtTime(cast<newton::SlotAttr>(system.getStates()[state]), time);
}

static void explainLanes(ArrayAttr laneAxes, llvm::raw_ostream& out) {
  std::string axes;
  for (Attribute axis : laneAxes)
    axes += (axes.empty() ? "" : " x ") + cast<StringAttr>(axis).getValue().str();
  out << "  lanes       " << (axes.empty() ? "one a batch element" : "batch x " + axes) << "\n";
}

static void explainBlock(newton::SystemOp system, llvm::raw_ostream& out) {
  std::string names;
  for (int64_t i = 0; i < system.numStates(); ++i)
    names += (i ? ", " : "") + stateName(system, i);
  out << "  block       " << system.numStates()
      << (system.numStates() == 1 ? " state: " : " states: ") << names << "\n";
}

/// What the states are before the first step, where it is not 0.
static void explainStarts(Operation* system, ArrayAttr states, llvm::raw_ostream& out) {
  std::string starts;
  auto cell = cast<newton::CellOp>(system->getParentOp());
  llvm::SmallPtrSet<Operation*, 8> seen;
  for (auto slot : states.getAsRange<newton::SlotAttr>()) {
    auto tensor =
        cast<newton::TensorOp>(SymbolTable::lookupSymbolIn(cell, slot.getTensor().getAttr()));
    double fill = tensor.getFill().convertToDouble();
    if (!seen.insert(tensor).second || (fill == 0 && !tensor.getStart()))
      continue;
    llvm::SmallString<16> number;
    tensor.getFill().toString(number);
    starts += (starts.empty() ? "" : ", ") + tensor.getSymName().str() + " = " +
              tensor.getStart().value_or(number).str();
  }
  if (!starts.empty())
    out << "  start       " << starts << "\n";
}

static void explainStep(newton::SystemOp system, llvm::raw_ostream& out) {
  const char* head = "  step        ";
  for (const std::string& line : definitions(system.stepBlock(), system)) {
    out << head << line << "\n";
    head = "              ";
  }
  // A result whose op carries its name was printed among the definitions.
  auto results = system.stepBlock().getTerminator()->getOperands();
  for (int64_t i = 0; i < system.numStates(); ++i) {
    std::string now = stateAt(system, i, "[t]"), value = formula(results[i], system);
    if (now == value)
      continue;
    out << head << now << " = " << value << "\n";
    head = "              ";
  }
}

static void explainPattern(newton::SystemOp system, llvm::raw_ostream& out) {
  newton::StructureAttr structure = *system.getStructure();
  int64_t k = system.numStates();
  llvm::SmallVector<char> marks(k * k, '.');
  for (int64_t i = 0; i < structure.numEntries(); ++i)
    marks[structure.getEntries()[2 * i] * k + structure.getEntries()[2 * i + 1]] = 'x';
  size_t width = 0;
  for (int64_t i = 0; i < k; ++i)
    width = std::max(width, stateName(system, i).size());
  for (int64_t row = 0; row < k; ++row) {
    out << (row ? "              " : "  pattern     ")
        << llvm::left_justify(stateName(system, row), width) << "  ";
    for (int64_t column = 0; column < k; ++column)
      out << marks[row * k + column] << (column + 1 < k ? " " : "");
    out << "\n";
  }
}

/// Why a block is not composed: multiply-adds and bytes against what its step does.
static void explainTooLarge(double states, double stepOperations, unsigned bytes,
                            llvm::raw_ostream& out) {
  out << llvm::format("  Jacobian    not composed: that would cost %.0f^3 = %.0f", states,
                      states * states * states)
      << llvm::format(" multiply-adds a step, against about %.0f of the step itself,\n",
                      stepOperations)
      << llvm::format("              and %.0f^2 = %.0f numbers (%.0f bytes) a lane; so it runs "
                      "sequentially.\n",
                      states, states * states, states * states * bytes)
      << llvm::format("              --schedule parallel corrects with the diagonal alone: %.0f "
                      "numbers, the same answer, more sweeps\n",
                      states);
}

static unsigned bytesOf(Type compute) { return compute.getIntOrFloatBitWidth() / 8; }

/// An entry by its signed value.
static std::string entryText(newton::SystemOp system, int64_t value) {
  auto values = system.getJacobian().front().getTerminator()->getOperands();
  Value entry = values[std::abs(value) - 1];
  auto minus = entry.getDefiningOp<arith::NegFOp>();
  if (value < 0 && minus)
    return formula(minus.getOperand(), system);
  std::string text = formula(entry, system);
  if (value > 0)
    return text;
  return text.find(' ') == std::string::npos ? "-" + text : "-(" + text + ")";
}

/// The diagonal entries, which are those of the Jacobian whatever else it has.
static void explainDiagonal(newton::SystemOp system, llvm::raw_ostream& out) {
  int64_t k = system.numStates();
  explainTooLarge(static_cast<double>(k), static_cast<double>(costOfStep(system).operations),
                  bytesOf(system.getCompute()), out);
  const char* head = "  diagonal    ";
  newton::StructureAttr structure = *system.getStructure();
  for (int64_t i = 0; i < structure.numEntries(); ++i) {
    out << head << "d " << stateName(system, structure.getEntries()[2 * i]) << " / d "
        << stateAt(system, structure.getEntries()[2 * i], "[t-1]") << " = "
        << entryText(system, structure.getValues()[i]) << "\n";
    head = "              ";
  }
}

/// Whether equations are solved several at a time: entries then hold an elimination with pivoting.
static bool solvesBlocks(newton::SystemOp system) {
  return llvm::any_of(system.stepBlock().getOps<newton::ImplicitOp>(),
                      [](newton::ImplicitOp op) { return op.numUnknowns() > 1; });
}

/// The entries as formulas; those of an elimination that are too long to be read are counted.
static void explainEntries(newton::SystemOp system, llvm::raw_ostream& out) {
  newton::StructureAttr structure = *system.getStructure();
  const char* head = "  Jacobian    ";
  bool mayBeLong = solvesBlocks(system);
  int64_t count = structure.numEntries(), untold = 0;
  for (int64_t i = 0; i < count; ++i) {
    std::string text = entryText(system, structure.getValues()[i]);
    if (mayBeLong && StringRef(text).ends_with("...")) {
      ++untold;
      continue;
    }
    out << head << "d " << stateName(system, structure.getEntries()[2 * i]) << " / d "
        << stateAt(system, structure.getEntries()[2 * i + 1], "[t-1]") << " = " << text << "\n";
    head = "              ";
  }
  if (count == 0)
    out << head << "0: no state depends on an earlier one\n";
  if (untold > 0)
    out << head << (untold < count ? std::to_string(untold) + " entries" : "all entries")
        << " by the implicit function theorem: the equations solved together, F = 0, give\n"
        << "              -(dF / d s[t])^-1 (dF / d s[t-1]), by elimination with pivoting\n";
}

static void explainJacobian(newton::SystemOp system, llvm::raw_ostream& out) {
  if (!system.hasJacobian())
    return;
  if (system.getDiagonal())
    return explainDiagonal(system, out);
  newton::StructureAttr structure = *system.getStructure();
  out << "  structure   " << structure.describe() << "\n";
  explainPattern(system, out);
  explainEntries(system, out);
  out << "  linear      "
      << (structure.getConstant() ? "yes, and the Jacobian is constant in time"
          : structure.getLinear() ? "yes: the Jacobian depends on no state"
                                  : "no: the Jacobian depends on the state")
      << "\n";
}

static void explainCost(newton::SystemOp system, llvm::raw_ostream& out) {
  StepCost step = costOfStep(system), jacobian = costOfJacobian(system);
  out << "  cost        step: " << step.operations << " operations, " << step.functions
      << " of them functions; " << llvm::format("%.0f", step.latency)
      << " cycles from state to state, " << llvm::format("%.0f", step.throughput)
      << " cycles a vector\n";
  if (system.hasJacobian())
    out << "              Jacobian beside it: " << jacobian.operations << " operations more, "
        << llvm::format("%.0f", jacobian.throughput)
        << " cycles a vector; composition: " << compositionOperations(system) << " multiply-adds\n";
}

namespace {
/// A count of scalars: a sum of products of dims, as text and as a number where sizes are known.
struct Count {
  std::string text;
  double number = 0;
  bool known = true;
};
} // namespace

static Count count(newton::DenseSystemOp system, ArrayAttr slots,
                   llvm::function_ref<int64_t(StringRef)> sizeOf) {
  Count total;
  std::vector<std::pair<std::string, int64_t>> terms; // the same product so many times
  for (auto slot : slots.getAsRange<newton::SlotAttr>()) {
    std::string text;
    double product = 1;
    for (int64_t dim : system.blockDimsOf(slot)) {
      StringRef name = cast<StringAttr>(system.getBlockDims()[dim]).getValue();
      int64_t size = system.getBlockSizes()[dim];
      size = size < 0 ? sizeOf(name) : size;
      total.known &= size >= 0;
      product *= static_cast<double>(size);
      text += (text.empty() ? "" : " ") + name.str();
    }
    total.number += product;
    text = text.empty() ? "1" : text;
    auto known = llvm::find_if(terms, [&](auto& term) { return term.first == text; });
    if (known == terms.end())
      terms.push_back({text, 1});
    else
      ++known->second;
  }
  for (auto& [text, times] : terms) {
    total.text += total.text.empty() ? "" : " + ";
    total.text += text == "1" ? std::to_string(times)
                  : times > 1 ? std::to_string(times) + " " + text
                              : text;
  }
  return total;
}

static std::string explainDense(newton::DenseSystemOp system,
                                llvm::function_ref<int64_t(StringRef)> sizeOf) {
  std::string text, names;
  llvm::raw_string_ostream out(text);
  for (auto slot : system.getStates().getAsRange<newton::SlotAttr>())
    names += (names.empty() ? "" : ", ") + slot.display();
  Count states = count(system, system.getStates(), sizeOf);
  Count params = count(system, system.getParams(), sizeOf);
  explainLanes(system.getLaneAxes(), out);
  out << "  block       " << states.text;
  if (states.known && !llvm::all_of(states.text, llvm::isDigit))
    out << " = " << llvm::format("%.0f", states.number);
  out << " states: " << names << "\n";
  explainStarts(system, system.getStates(), out);
  out << "  step        loops over the block; " << system.getTemporaries().size()
      << " arrays in between\n";
  if (states.known && params.known)
    explainTooLarge(states.number, std::max(states.number, params.number),
                    bytesOf(system.getCompute()), out);
  else
    out << "  Jacobian    not composed: that would cost the cube of " << states.text
        << " multiply-adds a step; so it runs sequentially\n";
  if (params.text.empty()) {
    out << "  cost        step: element-wise, without params\n";
    return text;
  }
  out << "  cost        step: about a multiply-add for each of " << params.text;
  if (params.known && !llvm::all_of(params.text, llvm::isDigit))
    out << llvm::format(" = %.0f", params.number);
  out << " numbers of the params\n";
  return text;
}

std::string rnnc::explainSystem(Operation* op, llvm::function_ref<int64_t(StringRef)> sizeOf) {
  if (auto dense = dyn_cast<newton::DenseSystemOp>(op))
    return explainDense(dense, sizeOf);
  auto system = cast<newton::SystemOp>(op);
  std::string text;
  llvm::raw_string_ostream out(text);
  explainLanes(system.getLaneAxes(), out);
  explainBlock(system, out);
  explainStarts(system, system.getStates(), out);
  explainStep(system, out);
  explainJacobian(system, out);
  explainCost(system, out);
  return text;
}
