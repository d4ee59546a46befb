//===- program.h - a cell as a tree that can be taken apart -----------------------------------===//
//
// What the generator makes, the shrinker cuts down, and the rewriter says in other words. It knows
// shapes but nothing of the compiler: its text is all that the compiler sees.
//
//===----------------------------------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace rnnc::generated {

struct Dim {
  std::string name;
  int64_t size = 1;   // of a free dim: in this test
  bool fixed = false; // written into the file
  bool operator==(const Dim&) const = default;
};

/// Axes by their dims' names.
using Shape = std::vector<std::string>;

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

enum class Op {
  Number,
  Const,   // a number that has a name
  Name,    // a param, a value of this step, an argument of a function
  At,      // text[t - back]
  Sign,    // + - * / ^ @, and - of one argument
  Compare, // < <= > >= == !=
  Logic,   // and or not
  Call,    // of a built-in or of a function of the file
  Slice,   // a[begin:end] along the last axis
  Turn,    // a.T
};

struct Expr {
  Op op;
  std::string text = {}; // a name, a sign, a function
  double number = 0;
  int64_t back = 0;
  int64_t begin = 0, end = 0;
  bool numbered = false; // a reduction's axis is written as a number, counted from the right
  std::string axis = {}; // that a call names; empty for the last one
  std::vector<ExprPtr> args = {};
  Shape shape = {};
  bool truth = false;
  bool complex = false;
};

struct Decl;

ExprPtr makeNumber(double value);
ExprPtr makeConst(const std::string& name, double value);
ExprPtr makeName(const std::string& name, Shape shape, bool complex = false);
/// name[t - back] of an input, a state or an output.
ExprPtr makeAt(const Decl& decl, int64_t back);
/// The shape is what the operands broadcast to.
ExprPtr makeSign(const std::string& sign, ExprPtr a, ExprPtr b);
ExprPtr makeMinus(ExprPtr a);
ExprPtr makeMatmul(ExprPtr a, ExprPtr b);
ExprPtr makeCompare(const std::string& sign, ExprPtr a, ExprPtr b);
ExprPtr makeLogic(const std::string& word, std::vector<ExprPtr> args);
/// Element-wise. Complex where an argument is, but for what gives a part of one.
ExprPtr makeCall(const std::string& function, std::vector<ExprPtr> args);
/// Along an axis: sum mean max min norm logsumexp drop it, softmax keeps it. `name` whether the
/// text names the axis; the last one needs no name.
ExprPtr makeReduction(const std::string& function, ExprPtr a, size_t axis, bool name);
/// Elements [begin, end) of the last axis, as an axis `dim` of that size.
ExprPtr makeSlice(ExprPtr a, int64_t begin, int64_t end, const std::string& dim);
ExprPtr makeTurn(ExprPtr a);
ExprPtr makeOuter(ExprPtr a, ExprPtr b);
/// Along the last axis, which then is `dim`.
ExprPtr makeConcat(ExprPtr a, ExprPtr b, const std::string& dim);
/// The same node over other arguments, of whatever shape they have.
ExprPtr withArgs(const Expr& expr, std::vector<ExprPtr> args);

Shape broadcast(const Shape& a, const Shape& b);
bool isReduction(const Expr& expr);

struct Decl {
  std::string name;
  Shape shape;
  double fill = 0;     // of a state or an input before the first step
  bool hidden = false; // a state's
  bool complex = false;
  std::string start = {}; // a state's: the param that it begins as, instead of `fill`
};

/// Its consts are those that it reads: a file declares what its functions, or its cell, read.
struct Function {
  std::string name;
  std::vector<std::string> params;
  std::vector<std::pair<std::string, ExprPtr>> lines;
  ExprPtr result;
  int file = 0; // 0: that of the cell; 1 and 2 are imported, 2 also by 1
};

struct Equation {
  std::string name;
  bool atTime = false; // of a state or an output
  ExprPtr value;
};

/// How a program is run.
struct Setting {
  int64_t batch = 1, time = 1;
  bool isDouble = true;
  bool isOptimised = true; // kernels; or made quickly
  std::string arch;        // as --arch
  bool contracts = true;
  bool strange = false; // NaN, infinities and huge numbers among the inputs
  uint64_t data = 0;    // the seed of all numbers
  struct Schedule {
    int vector = 0, tiles = 0; // rnn_vector, rnn_tiles
    int64_t chunk = 1, chunks = 0;
    int32_t threads = 1;
  };
  std::vector<Schedule> schedules;
};

struct Program {
  std::vector<Dim> dims;
  std::vector<Decl> inputs, params, states, outputs;
  std::vector<Function> functions;
  std::vector<Equation> equations;
  std::vector<std::string> saved; // hints to who plans memory; what has no equation is not named
  int64_t wish = 0;               // the chunk that the file asks for; 0: none
  Setting setting;

  const Dim& dim(const std::string& name) const;
  const Decl* find(const std::vector<Decl>& decls, const std::string& name) const;
  bool isState(const std::string& name) const { return find(states, name); }
};

/// The .rnn text of the cell's own file.
std::string print(const Program& program);
/// What it imports, by name.
std::map<std::string, std::string> importedFiles(const Program& program);
/// All of that for a reader.
std::string printAll(const Program& program);
std::string print(const Expr& expr);
/// One line: sizes and schedules that the text does not have.
std::string describe(const Program& program);

/// Calls `visit` for every node of every equation and function.
template <typename Visit>
void walk(const ExprPtr& expr, Visit visit) {
  visit(*expr);
  for (const ExprPtr& arg : expr->args)
    walk(arg, visit);
}

/// Whether an equation reads what it sets.
inline bool isImplicit(const Equation& equation) {
  bool reads = false;
  walk(equation.value, [&](const Expr& node) {
    reads |= node.op == Op::At && node.back == 0 && node.text == equation.name;
  });
  return reads;
}

/// The tree with `replace(node)` in place of every node for which it gives one; not looked into.
template <typename Replace>
ExprPtr rewrite(const ExprPtr& expr, const Replace& replace) {
  if (ExprPtr other = replace(expr))
    return other;
  std::vector<ExprPtr> args;
  bool changed = false;
  for (const ExprPtr& arg : expr->args) {
    args.push_back(rewrite(arg, replace));
    changed |= args.back() != arg;
  }
  return changed ? withArgs(*expr, std::move(args)) : expr;
}

/// Applies `change` to every expression of the program.
template <typename Change>
void changeAll(Program& program, const Change& change) {
  for (Equation& equation : program.equations)
    equation.value = change(equation.value);
}

/// Of the functions too.
template <typename Change>
void changeEverywhere(Program& program, const Change& change) {
  changeAll(program, change);
  for (Function& function : program.functions) {
    for (auto& line : function.lines)
      line.second = change(line.second);
    function.result = change(function.result);
  }
}

/// Numbers in place of their names.
ExprPtr withoutConsts(const ExprPtr& expr);

/// A function's call with its body in place, which may go into another file: without consts.
ExprPtr inlined(const Function& function, const std::vector<ExprPtr>& args);

} // namespace rnnc::generated
