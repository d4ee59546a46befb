//===- Functions.cpp - what can be said of a function before it is called ---------------------===//

#include "Frontend/Functions.h"
#include "Frontend/Builtins.h"

#include "llvm/ADT/DenseMap.h"

using namespace rnnc;
using namespace rnnc::ast;
using llvm::StringRef;

static std::string plural(unsigned count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// A call of something that is no function.
static void unknownFunction(const Node& call, Scope& scope, DiagnosticEngine& diagnostics) {
  if (scope.isLost(call.text))
    return;
  std::vector<std::string> known = builtinNames();
  for (Scope* at = &scope; at; at = at->outer) {
    if (at->incomplete)
      return;
    for (const auto& entry : at->functions)
      known.push_back(entry.first().str());
  }
  std::sort(known.begin(), known.end());
  std::string hint = didYouMean(call.text, known);
  if (hint.empty() && scope.isAnnounced(call.text))
    hint = "write '*' for a product";
  reportAt(diagnostics, call.span, "RNN0117", "there is no function '" + call.text.str() + "'",
           hint);
}

static bool checkBuiltin(const Node& call, const Builtin& builtin, DiagnosticEngine& diagnostics) {
  std::string id = "'" + call.text.str() + "'";
  auto fail = [&](const char* code, std::string text, std::string hint = "") {
    reportAt(diagnostics, call.span, code, std::move(text), std::move(hint));
    return false;
  };
  if (call.arguments < builtin.least || call.arguments > builtin.most) {
    std::string takes = std::to_string(builtin.least) + " or " + plural(builtin.most, "argument");
    if (builtin.least == builtin.most)
      takes = plural(builtin.most, "argument");
    else if (builtin.most == Builtin::kAny)
      takes = "at least " + plural(builtin.least, "argument");
    return fail("RNN0115", id + " takes " + takes + ", not " + std::to_string(call.arguments));
  }
  if (call.axis.empty() || builtin.takesAxis(call.arguments))
    return true;
  return builtin.reduce ? fail("RNN0115", id + " of two arguments takes no axis",
                               "it compares them element by element; with one argument it runs "
                               "along an axis")
                        : fail("RNN0115", id + " takes no axis");
}

bool rnnc::checkCall(const Node& call, Scope& scope, DiagnosticEngine& diagnostics) {
  DeclaredFunction* declared = scope.findFunction(call.text);
  if (!declared) {
    if (const Builtin* builtin = findBuiltin(call.text))
      return checkBuiltin(call, *builtin, diagnostics);
    unknownFunction(call, scope, diagnostics);
    return false;
  }
  declared->used = true;
  std::string id = "'" + call.text.str() + "'";
  size_t takes = declared->function->params.size();
  if (declared->function->broken || (declared->broken && takes == call.arguments))
    return false;
  if (takes != call.arguments)
    reportAt(diagnostics, call.span, "RNN0115",
             id + " takes " + plural(takes, "argument") + ", not " +
                 std::to_string(call.arguments));
  else if (!call.axis.empty())
    reportAt(diagnostics, call.span, "RNN0115", id + " takes no axis");
  return takes == call.arguments && call.axis.empty();
}

std::string rnnc::takenHint(StringRef name, Span at, Scope& scope, DiagnosticEngine& diagnostics) {
  DeclaredFunction* taken = scope.findFunction(name);
  if (!taken ||
      &diagnostics.sourceAt(taken->function->span.offset) == &diagnostics.sourceAt(at.offset))
    return "choose another name";
  return "choose another name; the function is on " +
         diagnostics.lineText(taken->function->span.offset, at.offset);
}

namespace {

/// The names of one function: its arguments and the values of its lines.
class BodyChecker {
public:
  BodyChecker(const Function& function, Scope& scope, DiagnosticEngine& diagnostics)
      : function(function), scope(scope), diagnostics(diagnostics) {}
  /// False after an error.
  bool run();

private:
  struct Local {
    Span span;
    bool used = false;
  };
  void define(StringRef name, Span span);
  void expression(const Expr& expr);
  void name(const Node& node);
  void error(Span span, const char* code, std::string text, std::string hint = "") {
    reportAt(diagnostics, span, code, std::move(text), std::move(hint));
    fine = false;
  }

  const Function& function;
  Scope& scope;
  DiagnosticEngine& diagnostics;
  llvm::StringMap<Local> locals;
  bool fine = true;
};

} // namespace

void BodyChecker::define(StringRef name, Span span) {
  if (findBuiltin(name) || scope.findFunction(name))
    error(span, "RNN0118", "'" + name.str() + "' is a function",
          takenHint(name, span, scope, diagnostics));
  else if (!locals.try_emplace(name, Local{span, false}).second)
    error(span, "RNN0118", "'" + name.str() + "' is defined twice");
}

void BodyChecker::name(const Node& node) {
  if (auto local = locals.find(node.text); local != locals.end()) {
    local->second.used = true;
    return;
  }
  std::string id = "'" + node.text.str() + "'";
  if (Declared* declared = scope.find(node.text)) {
    declared->used = true;
    bool isDim = declared->decl->kind == Declaration::DimDecl;
    if (declared->broken)
      fine = false;
    else if (isDim && declared->constant < 0)
      error(node.span, "RNN0203", "the size of " + id + " is not known here",
            "fix it in the file or with --dim " + node.text.str() + "=N");
    else if (!isDim && declared->decl->kind != Declaration::Const)
      error(node.span, "RNN0112", "a function sees its arguments and consts only, not " + id,
            "pass it as an argument");
    return;
  }
  if (node.text == "pi" || node.text == "inf")
    return;
  if (scope.isLost(node.text)) {
    fine = false;
    return;
  }
  std::vector<std::string> known =
      scope.names([](const Declared& d) { return d.decl->kind == Declaration::Const; });
  for (const auto& entry : locals)
    known.push_back(entry.first().str());
  std::sort(known.begin(), known.end());
  std::string hint = didYouMean(node.text, known);
  error(node.span, "RNN0110", id + " is not defined",
        hint.empty() ? "a function sees its arguments and consts" : hint);
}

void BodyChecker::expression(const Expr& expr) {
  for (const Node& node : expr) {
    if (diagnostics.full())
      return;
    if (node.op == Node::Name)
      name(node);
    else if (node.op == Node::At)
      error(node.span, "RNN0112", "a function sees its arguments and consts only",
            "pass " + diagnostics.text(node.begin, node.end - node.begin).str() +
                " as an argument");
    else if (node.op == Node::Call)
      fine &= checkCall(node, scope, diagnostics);
  }
}

bool BodyChecker::run() {
  for (const auto& [name, span] : function.params)
    define(name, span);
  for (const Equation& line : function.body) {
    expression(line.value);
    define(line.name, line.span);
  }
  expression(function.result);
  if (!fine)
    return false;
  std::vector<Span> unused;
  for (const auto& entry : locals)
    if (!entry.second.used)
      unused.push_back(entry.second.span);
  llvm::sort(unused, [](Span a, Span b) { return a.offset < b.offset; });
  for (Span span : unused)
    reportAt(diagnostics, span, "RNN0901",
             "'" + diagnostics.text(span.offset, span.length).str() + "' is never used", "",
             Severity::Warning);
  return true;
}

namespace {

/// Depth-first search for calls that lead back to where they came from, with a stack of its own.
/// Functions of an outer scope and of imported files know none of this scope.
class RecursionChecker {
public:
  RecursionChecker(Scope& scope, DiagnosticEngine& diagnostics)
      : scope(scope), diagnostics(diagnostics) {}
  void run(DeclaredFunction& root);

private:
  struct Visit {
    DeclaredFunction* function;
    std::vector<const Node*> calls;
    size_t next = 0;
  };
  enum State { Open, Done };
  void enter(DeclaredFunction& function);
  void report(const Node& call, DeclaredFunction& callee);

  Scope& scope;
  DiagnosticEngine& diagnostics;
  llvm::DenseMap<DeclaredFunction*, State> states;
  std::vector<Visit> path;
};

} // namespace

void RecursionChecker::enter(DeclaredFunction& function) {
  states[&function] = Open;
  Visit visit{&function, {}, 0};
  auto collect = [&](const Expr& expr) {
    for (const Node& node : expr)
      if (node.op == Node::Call && function.home == &scope && scope.findFunction(node.text))
        visit.calls.push_back(&node);
  };
  for (const Equation& line : function.function->body)
    collect(line.value);
  collect(function.function->result);
  path.push_back(std::move(visit));
}

/// Everything on the path from the callee to the call is part of the circle.
void RecursionChecker::report(const Node& call, DeclaredFunction& callee) {
  std::string through;
  for (size_t i = path.size(); i-- > 0 && path[i].function != &callee;) {
    path[i].function->broken = true;
    through = path[i].function->function->name.str();
  }
  callee.broken = true;
  reportAt(diagnostics, call.span, "RNN0116",
           "the function '" + callee.function->name.str() + "' calls itself" +
               (through.empty() ? "" : ", through '" + through + "'"),
           "functions are inlined; write the recurrence as a state");
}

void RecursionChecker::run(DeclaredFunction& root) {
  if (states.contains(&root))
    return;
  enter(root);
  while (!path.empty() && !diagnostics.full()) {
    Visit& visit = path.back();
    if (visit.next == visit.calls.size()) {
      states[visit.function] = Done;
      path.pop_back();
      continue;
    }
    const Node& call = *visit.calls[visit.next++];
    DeclaredFunction* callee = scope.findFunction(call.text);
    if (auto known = states.find(callee); known == states.end())
      enter(*callee);
    else if (known->second == Open)
      report(call, *callee);
  }
}

void rnnc::declareFunctions(const std::vector<Function>& functions, Scope& scope,
                            DiagnosticEngine& diagnostics) {
  for (const Function& function : functions) {
    std::string id = "'" + function.name.str() + "'";
    if (findBuiltin(function.name))
      reportAt(diagnostics, function.span, "RNN0118", id + " is a built-in function",
               "choose another name");
    else if (scope.find(function.name))
      reportAt(diagnostics, function.span, "RNN0118", id + " is declared twice");
    else if (DeclaredFunction* other = scope.findFunction(function.name))
      reportAt(diagnostics, function.span, "RNN0118", "the function " + id + " is defined twice",
               "the other one is on " +
                   diagnostics.lineText(other->function->span.offset, function.span.offset));
    else
      scope.functions[function.name] = {&function, false, function.broken, &scope};
  }
  auto own = [&](const Function& function) -> DeclaredFunction* {
    auto it = scope.functions.find(function.name);
    return it != scope.functions.end() && it->second.function == &function ? &it->second : nullptr;
  };
  for (const Function& function : functions)
    if (DeclaredFunction* declared = own(function); declared && !function.broken)
      declared->broken = !BodyChecker(function, scope, diagnostics).run();
  RecursionChecker recursion(scope, diagnostics);
  for (const Function& function : functions)
    if (DeclaredFunction* declared = own(function))
      recursion.run(*declared);
}

void rnnc::warnUnusedFunctions(const std::vector<Function>& functions, Scope& scope,
                               DiagnosticEngine& diagnostics) {
  for (const Function& function : functions)
    if (auto it = scope.functions.find(function.name);
        it != scope.functions.end() && !it->second.used && !it->second.broken)
      reportAt(diagnostics, function.span, "RNN0901",
               "the function '" + function.name.str() + "' is never called", "", Severity::Warning);
}
