//===- shrink.cpp - the smallest program that fails in the same way ---------------------------===//

#include "shrink.h"

#include "bounds.h"

#include <algorithm>
#include <functional>

using namespace rnnc::generated;

namespace {

/// Trials that a shrink may cost; each compiles the program.
constexpr int kTrials = 600;

/// Everything that the program does without: the text has no unused declaration.
void dropUnused(Program& program) {
  auto used = [&](const std::string& name) {
    auto found = [&](const ExprPtr& expr) {
      bool found = false;
      walk(expr, [&](const Expr& node) { found |= node.text == name; });
      return found;
    };
    return std::any_of(program.equations.begin(), program.equations.end(),
                       [&](const Equation& e) { return found(e.value); }) ||
           std::any_of(program.functions.begin(), program.functions.end(), [&](const Function& f) {
             return found(f.result) || std::any_of(f.lines.begin(), f.lines.end(),
                                                   [&](auto& line) { return found(line.second); });
           });
  };
  for (size_t i = program.equations.size(); i-- > 0;) // a value may be used by later ones only
    if (!program.equations[i].atTime && !used(program.equations[i].name))
      program.equations.erase(program.equations.begin() + static_cast<std::ptrdiff_t>(i));
  std::erase_if(program.functions, [&](const Function& f) { return !used(f.name); });
  std::erase_if(program.inputs, [&](const Decl& d) { return !used(d.name); });
  std::erase_if(program.params, [&](const Decl& d) {
    return !used(d.name) && std::none_of(program.states.begin(), program.states.end(),
                                         [&](const Decl& s) { return s.start == d.name; });
  });
  std::erase_if(program.dims, [&](const Dim& d) {
    for (auto* decls : {&program.inputs, &program.params, &program.states, &program.outputs})
      for (const Decl& decl : *decls)
        if (std::find(decl.shape.begin(), decl.shape.end(), d.name) != decl.shape.end())
          return false;
    return true;
  });
}

/// A number of either kind.
ExprPtr numberLike(bool complex, double value) {
  ExprPtr number = makeNumber(value);
  return complex ? makeCall("complex", {number, makeNumber(0.75)}) : number;
}

/// Programs that are a little smaller, the boldest cuts first.
class Cuts {
public:
  explicit Cuts(const Program& program) : program(program) {}
  std::vector<Program> all();

private:
  void settings();
  void files();
  void parts();
  void starts();
  void sizes();
  void equations();
  void expressions();
  void expression(size_t equation, const ExprPtr& node);
  void replace(size_t equation, const ExprPtr& node, const ExprPtr& by);
  void add(const std::function<void(Program&)>& change) {
    Program smaller = program;
    change(smaller);
    cuts.push_back(std::move(smaller));
  }

  const Program& program;
  std::vector<Program> cuts;
};

void Cuts::settings() {
  const Setting& s = program.setting;
  if (s.schedules.size() > 1)
    for (size_t i = 0; i < s.schedules.size(); ++i)
      add([&](Program& p) { p.setting.schedules = {s.schedules[i]}; });
  if (s.strange)
    add([](Program& p) { p.setting.strange = false; });
  if (!s.arch.empty())
    add([](Program& p) { p.setting.arch.clear(); });
  for (int64_t time : {int64_t{1}, int64_t{2}, s.time / 2, s.time - 1})
    if (time > 0 && time < s.time)
      add([&](Program& p) { p.setting.time = time; });
  if (s.batch > 1)
    add([](Program& p) { p.setting.batch = 1; });
  for (size_t i = 0; i < s.schedules.size(); ++i)
    if (s.schedules[i].threads > 1)
      add([&](Program& p) { p.setting.schedules[i].threads = 1; });
}

/// One file, without hints, and with numbers in place of consts.
void Cuts::files() {
  bool hasConsts = false;
  Program same = program; // only looked at
  changeEverywhere(same, [&](const ExprPtr& expr) {
    walk(expr, [&](const Expr& node) { hasConsts |= node.op == Op::Const; });
    return expr;
  });
  if (hasConsts)
    add([](Program& p) { changeEverywhere(p, withoutConsts); });
  else if (std::any_of(program.functions.begin(), program.functions.end(),
                       [](const Function& f) { return f.file > 0; }))
    add([](Program& p) {
      for (Function& function : p.functions)
        function.file = 0;
    });
  if (!program.saved.empty() || program.wish)
    add([](Program& p) { p.saved.clear(), p.wish = 0; });
}

/// Complex inputs and params become real ones.
void Cuts::parts() {
  auto simplify = [&](std::vector<Decl> Program::* list) {
    for (size_t i = 0; i < (program.*list).size(); ++i) {
      const Decl& whole = (program.*list)[i];
      bool isStart = std::any_of(program.states.begin(), program.states.end(),
                                 [&](const Decl& state) { return state.start == whole.name; });
      if (!whole.complex || isStart)
        continue;
      add([&](Program& p) {
        (p.*list)[i].complex = false;
        changeAll(p, [&](const ExprPtr& value) {
          return rewrite(value, [&](const ExprPtr& node) -> ExprPtr {
            if (node->text != whole.name || (node->op != Op::Name && node->op != Op::At))
              return nullptr;
            Expr re = *node;
            re.complex = false;
            return makeCall("complex", {std::make_shared<const Expr>(re), makeNumber(0.25)});
          });
        });
      });
    }
  };
  simplify(&Program::inputs);
  simplify(&Program::params);
}

void Cuts::starts() {
  for (size_t i = 0; i < program.states.size(); ++i) {
    if (!program.states[i].start.empty())
      add([&](Program& p) { p.states[i].start.clear(); });
    if (program.states[i].fill != 0)
      add([&](Program& p) { p.states[i].fill = 0; });
  }
}

void Cuts::sizes() {
  for (size_t i = 0; i < program.dims.size(); ++i)
    for (int64_t size : {int64_t{1}, program.dims[i].size - 1})
      if (size > 0 && size < program.dims[i].size)
        add([&](Program& p) { p.dims[i].size = size; });
}

void Cuts::equations() {
  for (size_t i = 0; i < program.equations.size(); ++i) {
    const Equation& gone = program.equations[i];
    // What reads it reads a number, or what it stood for.
    for (bool inPlace : {false, true}) {
      if (inPlace && gone.atTime)
        continue;
      add([&](Program& p) {
        p.equations.erase(p.equations.begin() + static_cast<std::ptrdiff_t>(i));
        std::erase_if(p.states, [&](const Decl& d) { return d.name == gone.name; });
        std::erase_if(p.outputs, [&](const Decl& d) { return d.name == gone.name; });
        for (Equation& equation : p.equations)
          equation.value = rewrite(equation.value, [&](const ExprPtr& node) -> ExprPtr {
            if (node->text != gone.name || (node->op != Op::Name && node->op != Op::At))
              return nullptr;
            return inPlace ? gone.value : numberLike(node->complex, 0.25);
          });
      });
    }
  }
}

void Cuts::replace(size_t equation, const ExprPtr& node, const ExprPtr& by) {
  add([&](Program& p) {
    ExprPtr& value = p.equations[equation].value;
    value = rewrite(value, [&](const ExprPtr& at) { return at == node ? by : nullptr; });
  });
}

void Cuts::expression(size_t equation, const ExprPtr& node) {
  bool isNumber = node->op == Op::Number ||
                  (node->text == "complex" &&
                   std::all_of(node->args.begin(), node->args.end(),
                               [](const ExprPtr& arg) { return arg->op == Op::Number; }));
  if (!isNumber && !node->truth && node->shape.empty())
    replace(equation, node, numberLike(node->complex, 0.5));
  for (const ExprPtr& arg : node->args)
    if (arg->truth == node->truth && arg->complex == node->complex && arg->shape == node->shape)
      replace(equation, node, arg);
  for (const Function& function : program.functions)
    if (node->op == Op::Call && node->text == function.name)
      replace(equation, node, inlined(function, node->args));
  if (!node->args.empty() && !node->truth)
    for (const Decl& state : program.states)
      if (state.shape == node->shape && state.complex == node->complex)
        replace(equation, node, makeAt(state, 1));
  if (node->op == Op::At && node->back > 1) {
    Expr nearer = *node;
    nearer.back = 1;
    replace(equation, node, std::make_shared<const Expr>(nearer));
  }
  for (const ExprPtr& arg : node->args)
    expression(equation, arg);
}

void Cuts::expressions() {
  for (size_t i = 0; i < program.equations.size(); ++i)
    expression(i, program.equations[i].value);
}

std::vector<Program> Cuts::all() {
  settings();
  files();
  equations();
  parts();
  starts();
  sizes();
  expressions();
  for (Program& cut : cuts)
    dropUnused(cut);
  return std::move(cuts);
}

int64_t sizeOf(const Program& program, const std::string& dim) {
  auto it = std::find_if(program.dims.begin(), program.dims.end(),
                         [&](const Dim& d) { return d.name == dim; });
  return it == program.dims.end() ? -1 : it->size;
}

/// A cut may have taken the state away, or a shape that an operator needs.
bool isWhole(const Program& program) {
  if (program.states.empty())
    return false;
  for (const Equation& equation : program.equations) {
    bool fine = true;
    walk(equation.value, [&](const Expr& node) {
      if (isReduction(node)) {
        const Shape& shape = node.args[0]->shape;
        fine &= !shape.empty() && (node.axis.empty() ||
                                   std::find(shape.begin(), shape.end(), node.axis) != shape.end());
      } else if (node.op == Op::Slice) {
        const Shape& shape = node.args[0]->shape;
        fine &= !shape.empty() && node.end <= sizeOf(program, shape.back()) &&
                (sizeOf(program, node.shape.back()) < 0 || // of a concat
                 node.end - node.begin == sizeOf(program, node.shape.back()));
      } else if (node.op == Op::Turn) {
        fine &= node.args[0]->shape.size() >= 2;
      } else if (node.op == Op::Call && node.text == "outer") {
        fine &= !node.args[0]->shape.empty() &&
                node.args[0]->shape.size() == node.args[1]->shape.size();
      } else if (node.op == Op::Call && node.text == "concat") {
        fine &= node.args[0]->op == Op::Slice && node.args[1]->op == Op::Slice &&
                node.args[0]->args[0]->shape == node.shape &&
                node.args[1]->args[0]->shape == node.shape &&
                node.args[1]->end == sizeOf(program, node.shape.back());
      } else if (node.op == Op::Sign && node.text == "@") {
        size_t left = node.args[0]->shape.size(), right = node.args[1]->shape.size();
        fine &= left >= 2 && (right == 1 || right == left || right + 1 == left);
      }
    });
    if (!fine)
      return false;
  }
  return stabilityOf(program).holds;
}

} // namespace

void rnnc::generated::shrink(Program& program, Failure& failure) {
  int trials = 0;
  for (bool smaller = true; smaller && trials < kTrials;) {
    smaller = false;
    for (Program& cut : Cuts(program).all()) {
      if (!isWhole(cut) || ++trials > kTrials)
        continue;
      std::optional<Failure> again = tryProgram(cut);
      if (!again || again->check != failure.check)
        continue;
      program = std::move(cut);
      failure = *again;
      smaller = true;
      break;
    }
  }
}
