//===- PrintCell.cpp - a prepared system as a struct of CUDA C++ -----------------------------===//

#include "Target/Cuda/PrintCell.h"
#include "Target/Cuda/Expressions.h"

using namespace mlir;
using namespace rnnc;
using namespace rnnc::cuda;

namespace {

class CellPrinter {
public:
  CellPrinter(PreparedSystem& system, LineWriter& out) : system(system), op(*system.op), out(out) {}
  void print();

private:
  void printPattern(StringRef what, ArrayRef<int64_t> pairs, ArrayRef<int64_t> numbers);
  void printFunction(StringRef name, Block& block, bool jacobian);
  void printLoads(Block& block);
  void printStatements(Block& block, unsigned indent);
  void printSearch(newton::ImplicitOp op, unsigned indent);
  void printResults(Block& block, bool jacobian);
  Expression written(Operation& op);
  Expression expression(Value value);

  PreparedSystem& system;
  newton::SystemOp op;
  LineWriter& out;
};

} // namespace

/// An op over its operands. Recursion is as deep as an expression, which prepare() bounds.
Expression CellPrinter::written(Operation& op) {
  SmallVector<Expression> operands;
  for (Value operand : op.getOperands())
    operands.push_back(expression(operand));
  return express(&op, operands);
}

Expression CellPrinter::expression(Value value) {
  auto name = system.names.find(value);
  if (name != system.names.end())
    return {name->second, Binding::Primary};
  return written(*value.getDefiningOp());
}

/// Numbers are written where places share them, signs where they are minus.
void CellPrinter::printPattern(StringRef what, ArrayRef<int64_t> pairs, ArrayRef<int64_t> numbers) {
  bool shared =
      !numbers.empty() && llvm::max_element(numbers)[0] != static_cast<int64_t>(numbers.size());
  std::vector<std::string> items{std::to_string(op.numStates())};
  for (auto [i, number] : llvm::enumerate(numbers)) {
    std::string item = std::to_string(pairs[2 * i]) + ", " + std::to_string(pairs[2 * i + 1]);
    if (shared)
      item += ", " + std::to_string(std::abs(number) - 1) + (number < 0 ? ", -1" : "");
    items.push_back("rnn::at<" + item + ">");
  }
  std::string begin = "  using " + what.str() + " = rnn::pattern<";
  out.line(wrapped(begin, items, ">;", begin.size()));
}

/// The arguments that something reads, under their names.
void CellPrinter::printLoads(Block& block) {
  unsigned next = 0;
  auto load = [&](StringRef array, int64_t count) {
    std::vector<std::string> items;
    for (int64_t i = 0; i < count; ++i) {
      Value argument = block.getArgument(next++);
      if (!argument.use_empty())
        items.push_back(system.names[argument] + " = " + array.str() + "[" + std::to_string(i) +
                        "]");
    }
    if (!items.empty())
      out.line(wrapped("    const real ", items, ";", 8));
  };
  load("state", op.numStates());
  load("input", op.numInputs());
  load("param", op.numParams());
}

/// The search of an implicit step: trials until there is a verdict.
void CellPrinter::printSearch(newton::ImplicitOp implicit, unsigned indent) {
  const std::vector<std::string>& variables = system.searches[implicit];
  std::string space(indent, ' '), verdict = variables.back();
  std::vector<std::string> begin;
  for (auto [variable, start] : llvm::zip(variables, implicit.getStarts()))
    begin.push_back(variable + " = " + expression(start).text);
  for (auto [i, number] : llvm::enumerate(implicit.searchStart()))
    begin.push_back(variables[implicit.numUnknowns() + i] + " = " + express(number).text);
  begin.push_back(verdict + " = real(0)");
  out.fromUnit();
  out.line(wrapped(space + "real ", begin, ";", indent + 4));
  out.line("#pragma unroll 1");
  out.line(space + "for (int trial = 0; trial < " + llvm::Twine(newton::ImplicitOp::kMaxTrials) +
           " && " + verdict + " == real(0); ++trial) {");
  printStatements(implicit.trialBlock(), indent + 2);
  out.fromUnit();
  // A search has no cycle of variables: what is not computed anew keeps its place.
  auto values = implicit.trialBlock().getTerminator()->getOperands();
  for (auto [variable, value] : llvm::zip_equal(variables, values))
    if (std::string text = expression(value).text; text != variable)
      out.line(space + "  " + variable + " = " + text + ";");
  out.line(space + "}");
  out.line(space + "if (unsolved && " + verdict + " != real(1)) {");
  out.line(space + "  *unsolved = true;");
  out.line(space + "}");
}

void CellPrinter::printStatements(Block& block, unsigned indent) {
  StatementWriter statements(out);
  for (Operation& statement : block.without_terminator()) {
    if (auto implicit = dyn_cast<newton::ImplicitOp>(statement)) {
      statements.flush();
      printSearch(implicit, indent);
      continue;
    }
    Value value = statement.getResult(0);
    auto name = system.names.find(value);
    if (name == system.names.end())
      continue;
    StringRef type = value.getType().isInteger(1) ? "const bool " : "const real ";
    statements.write(statement.getLoc(), indent, type,
                     name->second + " = " + written(statement).text + ";");
  }
}

/// All reads come before, so that `next` may be the array that `state` is.
void CellPrinter::printResults(Block& block, bool jacobian) {
  out.fromUnit();
  auto values = block.getTerminator()->getOperands();
  unsigned next = 0;
  auto store = [&](StringRef array, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      out.line("    " + array + "[" + llvm::Twine(i) + "] = " + expression(values[next++]).text +
               ";");
  };
  store("next", op.numStates());
  store("output", op.numOutputs());
  if (jacobian)
    store("jacobian", op.getStructure()->numValues());
}

void CellPrinter::printFunction(StringRef name, Block& block, bool jacobian) {
  auto array = [](StringRef type, StringRef what, int64_t size) {
    return (type + " (&" + what + ")[" + llvm::Twine(std::max<int64_t>(size, 1)) + "]").str();
  };
  std::vector<std::string> arguments{
      array("const real", "state", op.numStates()), array("const real", "input", op.numInputs()),
      array("const real", "param", op.numParams()), array("real", "next", op.numStates()),
      array("real", "output", op.numOutputs())};
  if (jacobian)
    arguments.push_back("real (&jacobian)[entries::size]");
  if (op.hasImplicit())
    arguments.push_back("bool *unsolved = nullptr");
  std::string begin = "  static __device__ __forceinline__ void " + name.str() + "(";
  out.line();
  out.line(wrapped(begin, arguments, ") {", 6));
  printLoads(block);
  printStatements(block, 4);
  printResults(block, jacobian);
  out.line("  }");
}

void CellPrinter::print() {
  out.line("template <class real, class math>");
  out.line("struct " + system.name + " {");
  out.line("  using scalar = real;");
  out.line(llvm::Twine("  static constexpr int states = ") + llvm::Twine(op.numStates()) +
           ", inputs = " + llvm::Twine(op.numInputs()) + ", params = " +
           llvm::Twine(op.numParams()) + ", outputs = " + llvm::Twine(op.numOutputs()) + ";");
  std::vector<std::string> stored;
  for (int64_t state : system.stored)
    stored.push_back(std::to_string(state));
  out.line(wrapped("  using stored = rnn::indices<", stored, ">;", 8));
  if (op.hasImplicit())
    out.line("  static constexpr bool implicit = true;");
  if (system.hasJacobian()) {
    newton::StructureAttr structure = *op.getStructure();
    out.line(llvm::Twine("  static constexpr bool linear = ") +
             (structure.getLinear() ? "true;" : "false;"));
    printPattern("entries", structure.getEntries(), structure.getValues());
    printPattern("carry", structure.getCarry(), structure.getNumbers());
  }
  printReads(system.reads, out);
  printFunction("step", system.step(), /*jacobian=*/false);
  if (system.hasJacobian())
    printFunction("step_jacobian", system.stepJacobian(), /*jacobian=*/true);
  out.line("};");
}

void rnnc::cuda::printCell(PreparedSystem& system, LineWriter& out) {
  CellPrinter(system, out).print();
}
