//===- Equations.cpp - walking expressions, inlining functions
//--------------------------------------------===//

#include "Frontend/Equations.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace rnnc;
using namespace rnnc::ast;
using rnn::ArrayType;

Location EquationBuilder::location(Span span) const {
  auto [line, column] = diagnostics.lineAndColumn(span.offset);
  return FileLineColLoc::get(builder.getContext(), diagnostics.file(), line, column);
}

std::string EquationBuilder::text(Span span) const {
  std::string quoted;
  for (char c : diagnostics.source().substr(span.offset, std::min(span.length, 60u)))
    quoted += c == '\n' ? ' ' : c;
  return span.length > 60 ? quoted + "..." : quoted;
}

std::string EquationBuilder::shape(Value value) const {
  return cast<ArrayType>(value.getType()).shapeString();
}

Value EquationBuilder::number(Location loc, double value) {
  return rnn::ConstantOp::create(builder, loc, ArrayType::get(builder.getContext(), {}),
                                 builder.getF64FloatAttr(value));
}

/// Guards against functions that expand without end.
bool EquationBuilder::count(Span at) {
  if (++operations <= options.limits.operations || stopped)
    return !stopped;
  error(at, "RNN0007",
        "the cell has more than " + std::to_string(options.limits.operations) +
            " operations once its functions are inlined",
        "raise the limit with --limit operations=N");
  stopped = true;
  return false;
}

void EquationBuilder::define(StringRef name, Value value, bool atTime) {
  values[name] = {value, atTime};
}

std::vector<std::string> EquationBuilder::unusedValues() const {
  std::vector<std::string> names;
  for (const auto& entry : values)
    if (!entry.second.used && !entry.second.atTime)
      names.push_back(entry.first().str());
  std::sort(names.begin(), names.end());
  return names;
}

Value EquationBuilder::undefined(const Node& node) {
  std::vector<std::string> known;
  for (const auto& entry : scope.declared)
    known.push_back(entry.first().str());
  for (const auto& entry : values)
    known.push_back(entry.first().str());
  for (const auto& entry : frames.back().locals)
    known.push_back(entry.first().str());
  std::sort(known.begin(), known.end());
  std::string hint;
  if (announced.contains(node.text))
    hint = "its equation comes later; move it up";
  else if (auto near = nearest(node.text, known))
    hint = "did you mean '" + *near + "'?";
  error(node.span, "RNN0110", "'" + node.text.str() + "' is not defined", hint);
  return {};
}

Value EquationBuilder::name(const Node& node) {
  if (auto local = frames.back().locals.find(node.text); local != frames.back().locals.end())
    return local->second;
  bool inFunction = frames.back().function != nullptr;
  if (auto it = values.find(node.text); !inFunction && it != values.end()) {
    it->second.used = true;
    if (it->second.atTime) {
      error(node.span, "RNN0111", "'" + node.text.str() + "' needs a time",
            "write " + node.text.str() + "[t] for the value of this step");
      return {};
    }
    return it->second.value;
  }
  if (Declared* declared = scope.find(node.text)) {
    declared->used = true;
    Location loc = location(node.span);
    switch (declared->decl->kind) {
    case Declaration::Const:
      return number(loc, declared->constant);
    case Declaration::DimDecl:
      if (declared->constant > 0)
        return number(loc, declared->constant);
      error(node.span, "RNN0203", "the size of '" + node.text.str() + "' is not known here",
            "fix it in the file or with --dim " + node.text.str() + "=N");
      return {};
    case Declaration::Param:
      if (inFunction)
        break;
      return rnn::ParamValueOp::create(builder, loc, declared->type, node.text);
    default:
      error(node.span, "RNN0111", "'" + node.text.str() + "' needs a time",
            declared->decl->kind == Declaration::State
                ? "write " + node.text.str() + "[t-1] for the previous value, " + node.text.str() +
                      "[t] for the new one"
                : "write " + node.text.str() + "[t]");
      return {};
    }
  }
  if (node.text == "pi")
    return number(location(node.span), std::numbers::pi);
  if (node.text == "inf")
    return number(location(node.span), INFINITY);
  if (inFunction && (scope.find(node.text) || values.contains(node.text))) {
    error(node.span, "RNN0112",
          "a function sees its arguments and consts only, not '" + node.text.str() + "'",
          "pass it as an argument");
    return {};
  }
  return undefined(node);
}

/// x[t-n]: an input, a previous state, or what this step has defined already.
Value EquationBuilder::atTime(const Node& node, StringRef of) {
  std::string id = node.text.str();
  Declared* declared = scope.find(node.text);
  if (!declared) {
    if (values.contains(node.text))
      error(node.span, "RNN0113", "'" + id + "' is a value of this step and has no time",
            "write " + id + " without brackets");
    else
      undefined(node);
    return {};
  }
  declared->used = true;
  Location loc = location(node.span);
  switch (declared->decl->kind) {
  case Declaration::Input:
    if (node.back == 0)
      return rnn::InputAtOp::create(builder, loc, declared->type, node.text, 0);
    error(node.span, "RNN0302", "not supported yet: an earlier input, " + id + "[t-n]",
          "pass the shifted sequence as an input of its own");
    return {};
  case Declaration::State:
    if (node.back == 1)
      return rnn::StateAtOp::create(builder, loc, declared->type, node.text, 1);
    if (node.back > 1) {
      error(node.span, "RNN0301", "not supported yet: a state more than one step back",
            "carry it in a second state: previous[t] = " + id + "[t-1]");
      return {};
    }
    [[fallthrough]];
  case Declaration::Output:
    if (auto it = values.find(node.text); node.back == 0 && it != values.end()) {
      it->second.used = true;
      return it->second.value;
    }
    if (node.back > 0)
      error(node.span, "RNN0114", "an output of an earlier step cannot be read",
            "make '" + id + "' a state");
    else if (of == node.text || declared->decl->kind == Declaration::State)
      error(node.span, "RNN0306",
            "not supported yet: an implicit step, '" + id + "[t]' is used before it is defined",
            of == node.text ? "write " + id + "[t-1] for the previous value"
                            : "move the equation of " + id + "[t] up");
    else
      undefined(node);
    return {};
  default:
    error(node.span, "RNN0113", "'" + id + "' has no time", "write " + id + " without brackets");
    return {};
  }
}

/// A user's function: a frame of its own, no recursion here and none allowed there.
bool EquationBuilder::enter(const Node& node, const Function& function) {
  if (function.params.size() != node.arguments) {
    error(node.span, "RNN0115",
          "'" + node.text.str() + "' takes " + std::to_string(function.params.size()) +
              " arguments, not " + std::to_string(node.arguments));
    return false;
  }
  if (!node.axis.empty()) {
    error(node.span, "RNN0115", "'" + node.text.str() + "' takes no axis");
    return false;
  }
  for (const Frame& frame : frames)
    if (frame.function == &function) {
      error(node.span, "RNN0116", "the function '" + node.text.str() + "' calls itself",
            "functions are inlined; write the recurrence as a state");
      return false;
    }
  if (static_cast<int64_t>(frames.size()) > options.limits.nesting) {
    error(node.span, "RNN0006", "calls nest deeper than " + std::to_string(options.limits.nesting),
          "raise the limit with --limit nesting=N");
    return false;
  }
  Frame frame{&function, function.body.empty() ? &function.result : &function.body[0].value,
              0,         0,
              {},        node.span};
  for (size_t i = 0; i < function.params.size(); ++i)
    frame.locals[function.params[i].first] = stack[stack.size() - function.params.size() + i].value;
  stack.resize(stack.size() - function.params.size());
  frames.push_back(std::move(frame));
  return true;
}

void EquationBuilder::call(const Node& node) {
  auto giveUp = [&] {
    stack.resize(stack.size() - node.arguments);
    stack.push_back({{}, node.span});
  };
  if (auto it = scope.functions.find(node.text); it != scope.functions.end()) {
    if (!enter(node, *it->second))
      giveUp();
    return;
  }
  const Builtin* what = findBuiltin(node.text);
  Span whole{node.begin, node.end - node.begin};
  if (!what) {
    std::vector<std::string> known = builtinNames();
    for (const auto& entry : scope.functions)
      known.push_back(entry.first().str());
    auto near = nearest(node.text, known);
    error(node.span, "RNN0117", "there is no function '" + node.text.str() + "'",
          near                    ? "did you mean '" + *near + "'?"
          : scope.find(node.text) ? "write '*' for a product"
                                  : "");
    return giveUp();
  }
  bool reduction = what->kind == Builtin::Binary && node.arguments == 1;
  if (what->kind == Builtin::Later || (reduction && (node.text == "min" || node.text == "max"))) {
    error(node.span, "RNN0305",
          "not supported yet: '" + node.text.str() + "'" + (reduction ? " of one argument" : ""));
    return giveUp();
  }
  if (node.arguments < what->least || node.arguments > what->most) {
    error(node.span, "RNN0115",
          "'" + node.text.str() + "' takes " + std::to_string(what->least) +
              (what->most > what->least ? " or " + std::to_string(what->most) : "") +
              (what->most == 1 ? " argument" : " arguments") + ", not " +
              std::to_string(node.arguments));
    return giveUp();
  }
  if (!node.axis.empty() && what->kind != Builtin::Sum) {
    error(node.span, "RNN0115", "'" + node.text.str() + "' takes no axis");
    return giveUp();
  }
  SmallVector<Operand> args(stack.end() - node.arguments, stack.end());
  stack.resize(stack.size() - node.arguments);
  bool whole_args = llvm::all_of(args, [](Operand a) { return static_cast<bool>(a.value); });
  stack.push_back({whole_args ? builtin(node, *what, args) : Value(), whole});
}

/// One node of postfix code.
void EquationBuilder::step(const Node& node, StringRef of) {
  Span whole{node.begin, node.end - node.begin};
  if (node.op == Node::Number)
    return stack.push_back({number(location(node.span), node.number), whole});
  if (node.op == Node::Name)
    return stack.push_back({name(node), whole});
  if (node.op == Node::At) {
    if (frames.back().function) {
      error(node.span, "RNN0112", "a function sees its arguments and consts only",
            "pass " + text(whole) + " as an argument");
      return stack.push_back({{}, whole});
    }
    return stack.push_back({atTime(node, of), whole});
  }
  if (node.op == Node::Call)
    return call(node);

  bool isUnary = node.op == Node::Neg || node.op == Node::Not;
  Operand b = stack.back(), a = b;
  stack.pop_back();
  if (!isUnary) {
    a = stack.back();
    stack.pop_back();
  }
  Value result;
  if (a.value && b.value) {
    if (node.op == Node::Neg)
      result = real(a) ? unary(location(node.span), rnn::UnaryKind::Neg, a.value) : Value();
    else if (node.op == Node::Compare)
      result = compare(node.span, node.text, a, b);
    else if (node.op == Node::Binary)
      result = node.text == "@" ? matmul(node.span, a, b)
                                : binary(node.span,
                                         node.text == "+"   ? rnn::BinaryKind::Add
                                         : node.text == "-" ? rnn::BinaryKind::Sub
                                         : node.text == "*" ? rnn::BinaryKind::Mul
                                         : node.text == "/" ? rnn::BinaryKind::Div
                                                            : rnn::BinaryKind::Pow,
                                         a, b);
    else
      result = logic(node, a, b);
  }
  stack.push_back({result, whole});
}

/// The code of the innermost frame is at its end: a line of a function binds its name, the last
/// one gives the value of the call. False when the equation itself is done.
bool EquationBuilder::finishLine() {
  Frame& frame = frames.back();
  if (!frame.function)
    return false;
  const Function& function = *frame.function;
  if (frame.line == function.body.size()) {
    stack.back().span = frame.call;
    frames.pop_back();
    return true;
  }
  StringRef name = function.body[frame.line].name;
  if (frame.locals.contains(name))
    error(function.body[frame.line].span, "RNN0118", "'" + name.str() + "' is defined twice");
  frame.locals[name] = stack.back().value;
  stack.pop_back();
  ++frame.line;
  frame.code =
      frame.line == function.body.size() ? &function.result : &function.body[frame.line].value;
  frame.next = 0;
  return true;
}

Value EquationBuilder::build(const Expr& expr, StringRef of) {
  stack.clear();
  frames.clear();
  frames.push_back({nullptr, &expr, 0, 0, {}, {}});
  while (true) {
    Frame& frame = frames.back();
    if (frame.next == frame.code->size()) {
      if (!finishLine())
        break;
      continue;
    }
    const Node& node = (*frame.code)[frame.next++];
    if (!count(node.span))
      return {};
    step(node, of);
  }
  return stack.back().value;
}
