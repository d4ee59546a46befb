//===- builtins_test.cpp - every built-in function: values, derivatives, limits --------------===//
//
// Each row becomes a cell, goes through the compiler, and is evaluated as the interpreter's step
// and as the scalars and the Jacobian of the solve. A built-in without its rows fails the test.
//
//===----------------------------------------------------------------------------------------------===//

#include "rows.h"

#include "Frontend/Builtins.h"
#include "Rnn/Rnn.h"
#include "check/scalars.h"
#include "rnnc/Compiler.h"
#include "rnnc/Frontend.h"
#include "rnnc/Interpreter.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

using namespace rnnc;
using namespace rnnc::test;

namespace {

/// The cell whose first state becomes the call. The arguments are its states a, b, c, or the
/// elements of its state v.
std::string cellOf(const Row& row) {
  std::string name = row.function;
  if (isReduction(name)) {
    name = name.substr(0, name.find(' '));
    return "cell C {\n  state v : [" + std::to_string(row.at.size()) + "]\n  v[t] = " + name +
           "(v[t-1])\n}\n";
  }
  std::string declarations, equations;
  for (size_t i = 0; i < row.at.size(); ++i) {
    std::string state(1, static_cast<char>('A' + i)), value(1, static_cast<char>('a' + i));
    declarations += "  state " + state + (takesVectors(name) ? " : [1]\n" : " : []\n");
    equations += "  " + value + " = " + state + "[t-1]\n";
  }
  equations += "  A[t] = " + callText(name, row.at.size()) + "\n";
  for (size_t i = 1; i < row.at.size(); ++i) {
    std::string state(1, static_cast<char>('A' + i));
    equations += "  " + state + "[t] = " + state + "[t-1]\n";
  }
  return "cell C {\n" + declarations + equations + "}\n";
}

std::string textOf(const Row& row) {
  std::string text = std::string(row.function) + " at";
  for (double x : row.at)
    text += " " + std::to_string(x);
  return text;
}

void expectNear(double found, double want, const std::string& what) {
  if (std::isnan(want))
    EXPECT_TRUE(std::isnan(found)) << what << ": " << found << " instead of NaN";
  else if (std::isinf(want) || want == 0)
    EXPECT_EQ(found, want) << what;
  else
    EXPECT_NEAR(found, want, 1e-12 * (1 + std::fabs(want))) << what;
}

/// A row on its way through the compiler.
class Compiled {
public:
  explicit Compiled(const Row& row) : row(row), context(createContext()) {
    diagnostics.setSource("row.rnn", cellOf(row));
    module = parseToRnn(*context, {}, diagnostics);
    std::string said;
    llvm::raw_string_ostream out(said);
    diagnostics.print(out, false);
    EXPECT_TRUE(module) << textOf(row) << "\n" << said;
  }
  void checkInterpreter();
  void checkSolve();

private:
  const Row& row;
  std::unique_ptr<mlir::MLIRContext> context;
  DiagnosticEngine diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

void Compiled::checkInterpreter() {
  auto interpreter = Interpreter::create(*module->getOps<rnn::CellOp>().begin(), {});
  ASSERT_TRUE(static_cast<bool>(interpreter));
  Arrays states;
  if (isReduction(row.function))
    states["v"] = {{static_cast<int64_t>(row.at.size())}, row.at};
  else
    for (size_t i = 0; i < row.at.size(); ++i)
      states[std::string(1, static_cast<char>('A' + i))] = {
          takesVectors(row.function) ? std::vector<int64_t>{1} : std::vector<int64_t>{},
          {row.at[i]}};
  auto next = interpreter->step(states, {}, {});
  ASSERT_TRUE(static_cast<bool>(next));
  expectNear(next->at(isReduction(row.function) ? "v" : "A").data[0], row.value,
             textOf(row) + ", interpreted");
}

void Compiled::checkSolve() {
  ASSERT_TRUE(lowerToSolve(*module, {.compute = "f64", .fma = false}));
  newton::CellOp cell = *module->getOps<newton::CellOp>().begin();
  size_t found = 0;
  for (auto system : cell.ops<newton::SystemOp>()) {
    // Arguments that the call does not couple are systems of their own.
    std::vector<size_t> argumentOf;
    for (auto slot : system.getStates().getAsRange<newton::SlotAttr>())
      argumentOf.push_back(isReduction(row.function)
                               ? static_cast<size_t>(slot.getAt()[0])
                               : static_cast<size_t>(slot.getTensor().getValue()[0] - 'A'));
    if (argumentOf.front() != 0)
      continue;
    ++found;
    auto evaluated = [&](mlir::Block& block) {
      check::Values values;
      for (auto [argument, which] : llvm::zip(block.getArguments(), argumentOf))
        values[argument] = row.at[which];
      EXPECT_EQ(check::evaluateBlock(block, values), nullptr) << textOf(row);
      std::vector<double> results;
      for (mlir::Value value : block.getTerminator()->getOperands())
        results.push_back(values.lookup(value));
      return results;
    };
    expectNear(evaluated(system.stepBlock())[0], row.value, textOf(row) + ", in the solve");
    if (row.partials.empty())
      continue;
    ASSERT_TRUE(system.hasJacobian()) << textOf(row);
    std::vector<double> entries = evaluated(system.getJacobian().front());
    std::vector<double> partials(row.at.size(), 0);
    newton::StructureAttr structure = *system.getStructure();
    ASSERT_EQ(entries.size(), static_cast<size_t>(structure.numValues())) << textOf(row);
    for (int64_t i = 0; i < structure.numEntries(); ++i) {
      int64_t value = structure.getValues()[i]; // from 1, with its sign: places may share one
      if (structure.getEntries()[2 * i] == 0)
        partials[argumentOf[structure.getEntries()[2 * i + 1]]] =
            std::copysign(1, value) * entries[std::abs(value) - 1];
    }
    for (size_t i = 0; i < partials.size(); ++i)
      expectNear(partials[i], row.partials[i],
                 textOf(row) + ", derivative by argument " + std::to_string(i));
  }
  EXPECT_EQ(found, 1u) << textOf(row);
}

void checkRow(const Row& row) {
  Compiled compiled(row);
  compiled.checkInterpreter();
  compiled.checkSolve();
}

TEST(Builtins, HaveTheseValues) {
  for (const Row& row : valueRows())
    checkRow(row);
}

TEST(Builtins, HaveTheseDerivatives) {
  for (const Row& row : derivativeRows()) {
    EXPECT_EQ(row.partials.size(), row.at.size()) << textOf(row);
    checkRow(row);
  }
}

TEST(Builtins, HaveTheseLimits) {
  for (const Row& row : limitRows())
    checkRow(row);
}

/// Names as the tables have them: min and max are two functions each, and so are those that take
/// complex numbers too. Operators are written with what they stand between.
std::set<std::string> wantedNames() {
  std::set<std::string> names{"exp z", "abs z", "1 / z", "a + b", "a - b",
                              "a * b", "a / b", "a ^ b", "a ^ 3", "-a"};
  for (const std::string& name : builtinNames()) {
    const Builtin* builtin = findBuiltin(name);
    names.insert(name);
    if (builtin->kind == Builtin::Binary && builtin->reduce)
      names.insert(name + " of");
  }
  return names;
}

TEST(Builtins, EachHasItsRows) {
  std::map<std::string, const std::vector<Row>*> tables = {
      {"values", &valueRows()}, {"derivatives", &derivativeRows()}, {"limits", &limitRows()}};
  std::set<std::string> wanted = wantedNames();
  EXPECT_GT(wanted.size(), 40u);
  for (const auto& [what, rows] : tables) {
    std::set<std::string> covered;
    for (const Row& row : *rows)
      covered.insert(row.function);
    for (const std::string& name : wanted)
      EXPECT_TRUE(covered.contains(name)) << name << " has no row among the " << what;
    for (const std::string& name : covered)
      EXPECT_TRUE(wanted.contains(name)) << name << " is no built-in function";
  }
}

/// What the limits of a function have to be about.
TEST(Builtins, LimitsAreZeroInfinityAndNan) {
  std::map<std::string, std::set<std::string>> seen;
  for (const Row& row : limitRows())
    for (double x : row.at)
      seen[row.function].insert(std::isnan(x)   ? "NaN"
                                : std::isinf(x) ? "infinity"
                                : x == 0        ? "zero"
                                                : "other");
  for (const std::string& name : wantedNames())
    for (const char* what : {"zero", "infinity", "NaN"})
      EXPECT_TRUE(seen[name].contains(what)) << name << " has no limit at " << what;
}

} // namespace
