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
  DensePrinter(PreparedDense& system, LineWriter& out) : system(system), op(*system.op), out(out) {}
  void print();

private:
  void printArrays();
  void printAccessors();
  void printBlock(Block& block, unsigned indent);
  void printOp(Operation& op, unsigned indent);
  void printLoop(scf::ForOp loop, unsigned indent);
  void printYield(scf::ForOp loop, unsigned indent);
  void line(Location loc, unsigned indent, const Twine& text);
  void flush();
  std::string indices(ValueRange values);
  Expression expression(Value value);
  Expression written(Operation& op);

  PreparedDense& system;
  newton::DenseSystemOp op;
  LineWriter& out;
  std::string pending, lastType; // what line() keeps back, and the type of its last declaration
  unsigned pendingIndent = 0;
  FileLineColLoc pendingFrom;
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

/// Statements that stem from one line of the user's share a line of ours, as far as it holds them;
/// neighbouring declarations of one type share its name too.
void DensePrinter::line(Location loc, unsigned indent, const Twine& text) {
  auto from = loc->findInstanceOf<FileLineColLoc>();
  std::string more = text.str();
  auto typeOf = [](StringRef text) -> StringRef { // "const real ", with the space
    for (StringRef type : {"const real ", "const long long ", "const bool ", "real "})
      if (text.starts_with(type))
        return type;
    return "";
  };
  bool same = !pending.empty() && indent == pendingIndent && from == pendingFrom;
  if (same && !lastType.empty() && lastType == typeOf(more) &&
      pending.size() + more.size() < kColumns) {
    pending.back() = ',';
    pending += " " + StringRef(more).drop_front(lastType.size()).str();
    return;
  }
  if (!same || pending.size() + more.size() + 1 > kColumns)
    flush();
  pending += pending.empty() ? std::string(indent, ' ') + more : " " + more;
  pendingIndent = indent;
  pendingFrom = from;
  lastType = typeOf(more).str();
}

void DensePrinter::flush() {
  if (pending.empty())
    return;
  if (pendingFrom && pendingFrom.getLine() > 0)
    out.from(pendingFrom.getFilename(), pendingFrom.getLine());
  else
    out.fromUnit();
  out.line(pending);
  pending.clear();
}

void DensePrinter::printYield(scf::ForOp loop, unsigned indent) {
  auto yielded = loop.getBody()->getTerminator()->getOperands();
  // An accumulator that moves into another one: the values are taken before any is replaced.
  SmallVector<std::string> values;
  for (auto [i, value] : llvm::enumerate(yielded)) {
    std::string text = expression(value).text;
    if (isa<BlockArgument>(value) && value != loop.getRegionIterArg(i)) {
      std::string taken = system.names[loop.getRegionIterArg(i)] + "_taken";
      line(loop.getLoc(), indent, "const real " + Twine(taken) + " = " + text + ";");
      text = taken;
    }
    values.push_back(text);
  }
  for (auto [arg, value] : llvm::zip(loop.getRegionIterArgs(), values))
    if (system.names[arg] != value)
      line(loop.getLoc(), indent, Twine(system.names[arg]) + " = " + value + ";");
}

void DensePrinter::printLoop(scf::ForOp loop, unsigned indent) {
  for (auto [result, init] : llvm::zip(loop.getResults(), loop.getInitArgs()))
    line(loop.getLoc(), indent,
         "real " + Twine(system.names[result]) + " = " + expression(init).text + ";");
  std::string index = system.names[loop.getInductionVar()];
  std::string step = expression(loop.getStep()).text;
  flush();
  line(loop.getLoc(), indent,
       "for (long long " + Twine(index) + " = " + expression(loop.getLowerBound()).text + "; " +
           index + " < " + expression(loop.getUpperBound()).text + "; " +
           (step == "1" ? "++" + index : index + " += " + step) + ") {");
  flush();
  printBlock(*loop.getBody(), indent + 2);
  printYield(loop, indent + 2);
  flush();
  line(loop.getLoc(), indent, "}");
  flush();
}

void DensePrinter::printOp(Operation& op, unsigned indent) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return printLoop(loop, indent);
  if (auto write = dyn_cast<memref::StoreOp>(op)) {
    std::string places = indices(write.getIndices());
    return line(op.getLoc(), indent,
                Twine(expression(write.getMemRef()).text) + ".set(" +
                    expression(write.getValueToStore()).text + (places.empty() ? "" : ", ") +
                    places + ");");
  }
  auto name = system.names.find(op.getResult(0));
  if (name == system.names.end())
    return; // printed where it is used
  Type type = op.getResult(0).getType();
  const char* kind = type.isIndex() ? "long long" : type.isInteger(1) ? "bool" : "real";
  line(op.getLoc(), indent,
       Twine("const ") + kind + " " + name->second + " = " + written(op).text + ";");
}

/// Recursion is as deep as loops nest: one level for each axis of an array.
void DensePrinter::printBlock(Block& block, unsigned indent) {
  for (Operation& op : block.without_terminator())
    printOp(op, indent);
}

void DensePrinter::printArrays() {
  size_t next = 0;
  auto list = [&](StringRef what, size_t count) {
    std::string text = "  using " + what.str() + " = rnn::arrays<";
    for (size_t i = 0; i < count; ++i) {
      text += i ? ", rnn::dims<" : "rnn::dims<";
      for (auto [n, dim] : llvm::enumerate(system.arrays[next]))
        text += (n ? ", " : "") + std::to_string(dim);
      text += ">";
      ++next;
    }
    out.line(text + ">;");
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
  out.line();
  out.line("  template <class Lane>");
  out.line("  static __device__ __forceinline__ void step(const Lane& lane) {");
  printAccessors();
  printBlock(op.stepBlock(), 4);
  flush();
  out.fromUnit();
  out.line("  }");
  out.line("};");
}

void rnnc::cuda::printDenseCell(PreparedDense& system, LineWriter& out) {
  DensePrinter(system, out).print();
}
