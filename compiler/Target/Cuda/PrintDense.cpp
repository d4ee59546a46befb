//===- PrintDense.cpp - a prepared dense system as a struct of CUDA C++ ----------------------===//

#include "Target/Cuda/Dense.h"
#include "Target/Cuda/Expressions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace rnnc;
using namespace rnnc::cuda;
using llvm::Twine;

namespace {

class DensePrinter {
public:
  DensePrinter(PreparedDense& system, LineWriter& out)
      : system(system), op(*system.op), out(out), statements(out) {}
  void print();

private:
  void printArrays();
  void printAccessors();
  void printBlock(Block& block, unsigned indent);
  void printOp(Operation& op, unsigned indent);
  void printLoop(scf::ForOp loop, unsigned indent);
  void printYield(scf::ForOp loop, unsigned indent);
  bool readsOther(Value value, scf::ForOp loop, Value accumulator);
  std::string indices(ValueRange values);
  Expression expression(Value value);
  Expression written(Operation& op);

  PreparedDense& system;
  newton::DenseSystemOp op;
  LineWriter& out;
  StatementWriter statements;
};

} // namespace

/// Index arithmetic; everything else is a scalar function.
static const char* indexSign(Operation& op) {
  return llvm::StringSwitch<const char*>(op.getName().getStringRef())
      .Case("arith.addi", " + ")
      .Case("arith.subi", " - ")
      .Case("arith.muli", " * ")
      .Case("arith.remui", " % ")
      .Case("arith.divui", " / ")
      .Default(nullptr);
}

/// Recursion is as deep as an expression, which prepareDense() bounds.
Expression DensePrinter::written(Operation& op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && constant.getType().isIndex())
    return {std::to_string(cast<IntegerAttr>(constant.getValue()).getInt()), Binding::Primary};
  if (auto read = dyn_cast<memref::LoadOp>(op))
    return {expression(read.getMemRef()).text + "(" + indices(read.getIndices()) + ")",
            Binding::Primary};
  SmallVector<Expression> operands;
  for (Value operand : op.getOperands())
    operands.push_back(expression(operand));
  if (const char* sign = indexSign(op)) {
    auto placed = [](const Expression& e) {
      return e.binding == Binding::Primary ? e.text : "(" + e.text + ")";
    };
    return {placed(operands[0]) + sign + placed(operands[1]), Binding::Sum};
  }
  return express(&op, operands);
}

Expression DensePrinter::expression(Value value) {
  auto name = system.names.find(value);
  if (name != system.names.end())
    return {name->second, Binding::Primary};
  return written(*value.getDefiningOp());
}

std::string DensePrinter::indices(ValueRange values) {
  std::string text;
  for (Value value : values)
    text += (text.empty() ? "" : ", ") + expression(value).text;
  return text;
}

/// Whether the text of a value reads an accumulator of the loop other than its own. Recursion is as
/// deep as an expression.
bool DensePrinter::readsOther(Value value, scf::ForOp loop, Value accumulator) {
  if (llvm::is_contained(loop.getRegionIterArgs(), value))
    return value != accumulator;
  if (system.names.contains(value)) // computed before any is replaced
    return false;
  return llvm::any_of(value.getDefiningOp()->getOperands(),
                      [&](Value operand) { return readsOther(operand, loop, accumulator); });
}

/// Accumulators are replaced one after the other: what reads another one is taken before.
void DensePrinter::printYield(scf::ForOp loop, unsigned indent) {
  auto yielded = loop.getBody()->getTerminator()->getOperands();
  SmallVector<std::string> values;
  for (auto [arg, value] : llvm::zip(loop.getRegionIterArgs(), yielded)) {
    std::string text = expression(value).text;
    if (readsOther(value, loop, arg)) {
      std::string taken = system.names[arg] + "_taken";
      statements.write(loop.getLoc(), indent, "const real ", Twine(taken) + " = " + text + ";");
      text = taken;
    }
    values.push_back(text);
  }
  for (auto [arg, value] : llvm::zip(loop.getRegionIterArgs(), values))
    if (system.names[arg] != value)
      statements.write(loop.getLoc(), indent, "", Twine(system.names[arg]) + " = " + value + ";");
}

void DensePrinter::printLoop(scf::ForOp loop, unsigned indent) {
  Location loc = loop.getLoc();
  for (auto [result, init] : llvm::zip(loop.getResults(), loop.getInitArgs()))
    statements.write(loc, indent, "real ",
                     Twine(system.names[result]) + " = " + expression(init).text + ";");
  std::string index = system.names[loop.getInductionVar()];
  std::string step = expression(loop.getStep()).text;
  statements.flush();
  statements.write(loc, indent, "",
                   "for (long long " + Twine(index) + " = " +
                       expression(loop.getLowerBound()).text + "; " + index + " < " +
                       expression(loop.getUpperBound()).text + "; " +
                       (step == "1" ? "++" + index : index + " += " + step) + ") {");
  statements.flush();
  printBlock(*loop.getBody(), indent + 2);
  printYield(loop, indent + 2);
  statements.flush();
  statements.write(loc, indent, "", "}");
  statements.flush();
}

void DensePrinter::printOp(Operation& op, unsigned indent) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return printLoop(loop, indent);
  if (auto write = dyn_cast<memref::StoreOp>(op)) {
    std::string places = indices(write.getIndices());
    return statements.write(op.getLoc(), indent, "",
                            Twine(expression(write.getMemRef()).text) + ".set(" +
                                expression(write.getValueToStore()).text +
                                (places.empty() ? "" : ", ") + places + ");");
  }
  auto name = system.names.find(op.getResult(0));
  if (name == system.names.end())
    return; // printed where it is used
  Type type = op.getResult(0).getType();
  statements.write(op.getLoc(), indent,
                   type.isIndex()      ? "const long long "
                   : type.isInteger(1) ? "const bool "
                                       : "const real ",
                   Twine(name->second) + " = " + written(op).text + ";");
}

/// Recursion is as deep as loops nest: one level for each axis of an array.
void DensePrinter::printBlock(Block& block, unsigned indent) {
  for (Operation& op : block.without_terminator())
    printOp(op, indent);
}

void DensePrinter::printArrays() {
  size_t next = 0;
  auto list = [&](StringRef what, size_t count) {
    std::vector<std::string> items;
    for (size_t i = 0; i < count; ++i) {
      std::string dims;
      for (int64_t dim : system.arrays[next++])
        dims += (dims.empty() ? "" : ", ") + std::to_string(dim);
      items.push_back("rnn::dims<" + dims + ">");
    }
    std::string begin = "  using " + what.str() + " = rnn::arrays<";
    out.line(wrapped(begin, items, ">;", begin.size()));
  };
  list("states", op.getStates().size());
  list("inputs", op.getInputs().size());
  list("params", op.getParams().size());
  next += op.getStates().size(); // the new ones are shaped as the old
  list("outputs", op.getOutputs().size());
  list("temporaries", op.getTemporaries().size());
}

void DensePrinter::printAccessors() {
  Block& block = op.stepBlock();
  unsigned next = 0;
  auto declare = [&](const Twine& type, const Twine& from) {
    Value argument = block.getArgument(next++);
    if (!argument.use_empty())
      out.line("    const " + type + " " + system.names[argument] + " = lane." + from + ";");
  };
  for (size_t i = 0; i < op.getBlockDims().size(); ++i)
    declare("long long", "size(" + Twine(i) + ")");
  auto arrays = [&](StringRef what, size_t count) {
    for (size_t i = 0; i < count; ++i)
      declare("auto", "template " + what + "<" + Twine(i) + ">()");
  };
  arrays("state", op.getStates().size());
  arrays("input", op.getInputs().size());
  arrays("param", op.getParams().size());
  arrays("next", op.getStates().size());
  arrays("output", op.getOutputs().size());
  arrays("temporary", op.getTemporaries().size());
}

void DensePrinter::print() {
  out.line("template <class real, class math>");
  out.line("struct " + system.name + " {");
  out.line("  static constexpr int block = " + Twine(op.getBlockDims().size()) + ";");
  printArrays();
  printReads(system.reads, out);
  out.line();
  out.line("  template <class Lane>");
  out.line("  static __device__ __forceinline__ void step(const Lane& lane) {");
  printAccessors();
  printBlock(op.stepBlock(), 4);
  statements.flush();
  out.fromUnit();
  out.line("  }");
  out.line("};");
}

void rnnc::cuda::printDenseCell(PreparedDense& system, LineWriter& out) {
  DensePrinter(system, out).print();
}
