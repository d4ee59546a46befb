//===- rewrite.cpp - the same cell in other words ---------------------------------------------===//

#include "rewrite.h"

#include <algorithm>
#include <set>

using namespace rnnc::generated;

namespace {

/// Some values of the step in place of their names.
void inlineValues(Program& program, Random& random) {
  for (size_t i = 0; i < program.equations.size();) {
    Equation equation = program.equations[i];
    if (equation.atTime || !random.chance(0.5)) {
      ++i;
      continue;
    }
    program.equations.erase(program.equations.begin() + static_cast<std::ptrdiff_t>(i));
    changeAll(program, [&](const ExprPtr& value) {
      return rewrite(value, [&](const ExprPtr& node) {
        return node->op == Op::Name && node->text == equation.name ? equation.value : nullptr;
      });
    });
  }
}

/// A function's calls, innermost first.
ExprPtr inlineCalls(const ExprPtr& expr, const Function& function) {
  std::vector<ExprPtr> args;
  for (const ExprPtr& arg : expr->args)
    args.push_back(inlineCalls(arg, function));
  if (expr->op == Op::Call && expr->text == function.name)
    return inlined(function, args);
  return args == expr->args ? expr : withArgs(*expr, std::move(args));
}

/// Later functions may call earlier ones, so the last goes first.
void inlineFunctions(Program& program, Random& random) {
  for (size_t i = program.functions.size(); i-- > 0;) {
    if (!random.chance(0.6))
      continue;
    Function function = program.functions[i];
    program.functions.erase(program.functions.begin() + static_cast<std::ptrdiff_t>(i));
    changeAll(program, [&](const ExprPtr& value) { return inlineCalls(value, function); });
    for (Function& other : program.functions) {
      for (auto& line : other.lines)
        line.second = inlineCalls(line.second, function);
      other.result = inlineCalls(other.result, function);
    }
  }
}

/// Everything in the cell's own file, with numbers in place of consts: two files may have consts of
/// one name.
void joinFiles(Program& program) {
  changeEverywhere(program, withoutConsts);
  for (Function& function : program.functions)
    function.file = 0;
}

/// The names of this step that an expression reads.
std::set<std::string> needs(const ExprPtr& expr) {
  std::set<std::string> names;
  walk(expr, [&](const Expr& node) {
    if (node.op == Op::Name || (node.op == Op::At && node.back == 0))
      names.insert(node.text);
  });
  return names;
}

/// Any order in which every value comes before its use.
void reorder(Program& program, Random& random) {
  std::vector<Equation> left = std::move(program.equations), ordered;
  while (!left.empty()) {
    std::vector<size_t> ready;
    for (size_t i = 0; i < left.size(); ++i) {
      std::set<std::string> names = needs(left[i].value);
      names.erase(left[i].name); // an implicit step
      if (std::none_of(left.begin(), left.end(),
                       [&](const Equation& e) { return names.contains(e.name); }))
        ready.push_back(i);
    }
    size_t next = random.pick(ready);
    ordered.push_back(left[next]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(next));
  }
  program.equations = std::move(ordered);
  random.shuffle(program.inputs);
  random.shuffle(program.params);
  random.shuffle(program.states);
  random.shuffle(program.outputs);
  random.shuffle(program.functions);
}

class Renaming {
public:
  explicit Renaming(Random& random) : random(random) {}

  void all(Program& program);
  std::map<std::string, std::string> original;

private:
  std::string fresh(const std::string& old);
  ExprPtr in(const ExprPtr& expr);

  Random& random;
  std::map<std::string, std::string> renamed;
};

std::string Renaming::fresh(const std::string& old) {
  static const std::vector<std::string> stems = {"alpha",  "Q",   "zz", "\xCE\xB2",
                                                 "h_back", "A_1", "m"};
  std::string name =
      random.pick(stems) + std::to_string(renamed.size()) + (random.chance(0.3) ? "_" : "");
  renamed[old] = name;
  original[name] = old;
  return name;
}

ExprPtr Renaming::in(const ExprPtr& expr) {
  Expr node = *expr;
  if (auto it = renamed.find(node.text);
      it != renamed.end() && (node.op == Op::Name || node.op == Op::At || node.op == Op::Call))
    node.text = it->second;
  for (ExprPtr& arg : node.args)
    arg = in(arg);
  return std::make_shared<const Expr>(std::move(node));
}

/// Functions keep the names of their arguments, dims theirs: a table of sizes goes by them.
void Renaming::all(Program& program) {
  for (auto* decls : {&program.inputs, &program.params, &program.states, &program.outputs})
    for (Decl& decl : *decls)
      decl.name = fresh(decl.name);
  for (Decl& state : program.states)
    if (!state.start.empty())
      state.start = renamed.at(state.start);
  for (Function& function : program.functions)
    function.name = fresh(function.name);
  for (Equation& equation : program.equations)
    equation.name = equation.atTime ? renamed.at(equation.name) : fresh(equation.name);
  changeAll(program, [&](const ExprPtr& value) { return in(value); });
  for (Function& function : program.functions) {
    for (auto& line : function.lines)
      line.second = in(line.second);
    function.result = in(function.result);
  }
}

} // namespace

Rewritten rnnc::generated::sayOtherwise(const Program& program, Random& random) {
  Rewritten result{program, {}};
  if (random.chance(0.6))
    joinFiles(result.program);
  inlineFunctions(result.program, random);
  inlineValues(result.program, random);
  reorder(result.program, random);
  Renaming renaming(random);
  renaming.all(result.program);
  result.original = std::move(renaming.original);
  return result;
}
