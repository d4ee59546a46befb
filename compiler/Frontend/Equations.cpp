//===- Equations.cpp - walking expressions, inlining functions --------------------------------===//

#include "Frontend/Equations.h"
#include "Frontend/Functions.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace rnnc;
using namespace rnnc::ast;
using rnn::ArrayType;

Location EquationBuilder::location(Span span) const {
  auto [line, column] = diagnostics.lineAndColumn(span.offset);
  return FileLineColLoc::get(builder.getContext(), diagnostics.sourceAt(span.offset).file, line,
                             column);
}

/// In an inlined function the place is its body, and the hint says which line called it.
void EquationBuilder::error(Span span, const char* code, std::string text, std::string hint) {
  if (frames.size() > 1)
    hint += (hint.empty() ? "called on " : "; called on ") +
            diagnostics.lineText(frames[1].call.offset, span.offset);
  reportAt(diagnostics, span, code, std::move(text), std::move(hint));
}

/// A stretch of the source to quote within a message: one line, not too long, whole characters.
std::string EquationBuilder::text(Span span) const {
  constexpr uint32_t kLongest = 60;
  StringRef source = diagnostics.text(span.offset, span.length);
  bool cut = source.size() > kLongest;
  if (cut) {
    size_t end = kLongest;
    while (end > 0 && (source[end] & 0xC0) == 0x80)
      --end;
    source = source.take_front(end);
  }
  std::string quoted;
  for (char c : source)
    quoted += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
  return cut ? quoted + "..." : quoted;
}

Value EquationBuilder::number(Location loc, double value) {
  return rnn::ConstantOp::create(builder, loc, ArrayType::get(builder.getContext(), {}),
                                 builder.getF64FloatAttr(value));
}

/// Guards against functions that expand without end.
bool EquationBuilder::count(Span at) {
  if (++operations <= options.limits.operations || stopped)
    return !stopped;
  reportAt(diagnostics, frames.size() > 1 ? frames[1].call : at, "RNN0007",
           "the cell has more than " + std::to_string(options.limits.operations) +
               " operations once its functions are inlined",
           "raise the limit with --limit operations=N");
  stopped = true;
  return false;
}

void EquationBuilder::define(StringRef name, Value value, bool atTime) {
  values[name] = {value, atTime};
}

bool EquationBuilder::isUsed(StringRef name) const {
  auto it = values.find(name);
  return it != values.end() && it->second.used;
}

Value EquationBuilder::undefined(const Node& node) {
  if (scope.isLost(node.text))
    return {};
  std::vector<std::string> known = scope.names([](const Declared&) { return true; });
  for (const auto& entry : values)
    known.push_back(entry.first().str());
  llvm::sort(known);
  std::string id = node.text.str(), hint;
  if (scope.findFunction(node.text) || findBuiltin(node.text))
    hint = "it is a function: " + id + "(...)";
  else
    hint = didYouMean(node.text, known);
  error(node.span, "RNN0110", "'" + id + "' is not defined", hint);
  return {};
}

/// A value of this step that is read before its equation.
void EquationBuilder::early(const Node& node) {
  size_t target = *order.equationOf(node.text);
  const Equation &equation = order[target], &reader = order[current];
  if (equation.broken)
    return;
  std::string id = text({node.begin, node.end - node.begin});
  // Through a state a circle is an implicit step, once its lines stand in order.
  if (!order.needsWithoutStates(target, current)) {
    unsigned line = diagnostics.lineAndColumn(equation.span.offset).first;
    return error(node.span, "RNN0124", "'" + id + "' is used before its equation",
                 "move line " + std::to_string(line) + " above this one");
  }
  error(node.span, "RNN0125",
        "'" + reader.name.str() + (reader.atTime ? "[t]" : "") + "' is defined through itself",
        "only a state has a previous value: state s : [...], then s[t] = ... s[t-1]");
}

/// What a declared name stands for without a time.
Value EquationBuilder::declaredName(const Node& node, Declared& declared) {
  declared.used = true;
  std::string id = node.text.str();
  if (declared.broken)
    return {};
  switch (declared.decl->kind) {
  case Declaration::Const:
    return number(location(node.span), declared.constant);
  case Declaration::DimDecl:
    if (declared.constant > 0)
      return number(location(node.span), declared.constant);
    error(node.span, "RNN0203", "the size of '" + id + "' is not known here",
          "fix it in the file or with --dim " + id + "=N");
    return {};
  case Declaration::Param:
    return rnn::ParamValueOp::create(builder, location(node.span), declared.type, node.text);
  case Declaration::State:
    error(node.span, "RNN0111", "'" + id + "' needs a time",
          "write " + id + "[t-1] for the previous value, " + id + "[t] for the new one");
    return {};
  case Declaration::Input:
  case Declaration::Output:
    error(node.span, "RNN0111", "'" + id + "' needs a time", "write " + id + "[t]");
    return {};
  }
  return {};
}

Value EquationBuilder::name(const Node& node) {
  if (auto local = frames.back().locals.find(node.text); local != frames.back().locals.end())
    return local->second;
  if (Declared* declared = here().find(node.text))
    return declaredName(node, *declared);
  if (auto it = values.find(node.text); it != values.end()) {
    it->second.used = true;
    return it->second.value;
  }
  if (node.text == "pi")
    return number(location(node.span), std::numbers::pi);
  if (node.text == "inf")
    return number(location(node.span), INFINITY);
  if (order.equationOf(node.text))
    return early(node), Value();
  return undefined(node);
}

/// A state that is read above its equation, in a circle: every read of it is the unknown that the
/// implicit step is solved for.
bool EquationBuilder::isUnknown(const Node& node, const Declared& declared) {
  if (declared.decl->kind != Declaration::State)
    return false;
  auto target = order.equationOf(node.text);
  if (!values.contains(node.text) && target && !order[*target].broken &&
      order.needs(*target, current))
    unknowns.insert(node.text);
  return unknowns.contains(node.text);
}

/// name[t] of a state or an output, in its declared shape.
Value EquationBuilder::newValue(const Node& node, Declared& declared) {
  if (isUnknown(node, declared))
    return rnn::StateAtOp::create(builder, location(node.span), declared.type, node.text, 0);
  auto it = values.find(node.text);
  if (it == values.end()) {
    if (order.equationOf(node.text))
      early(node);
    return {}; // without an equation: said once, at the declaration
  }
  Value value = it->second.value;
  if (!value || cast<ArrayType>(value.getType()).getRank() == declared.type.getRank()) {
    auto dims = value ? cast<ArrayType>(value.getType()).getDims() : ArrayRef<rnn::DimAttr>();
    if (llvm::equal(dims, declared.type.getDims(), [](auto a, auto b) { return a.matches(b); }) ||
        !value)
      return value;
  }
  if (declared.decl->kind != Declaration::State) {
    error(node.span, "RNN0205",
          "'" + node.text.str() + "[t]' is read here, but its equation gives " + shape(value) +
              " instead of " + shapeText(declared.type));
    return {};
  }
  // The dialect broadcasts in operations only: a choice between the value and itself, under a
  // condition that has the state's shape, is the value in that shape.
  Location loc = location(node.span);
  Value previous = rnn::StateAtOp::create(builder, loc, declared.type, node.text, 1);
  if (declared.type.isComplex())
    previous = part(loc, rnn::PartKind::Re, previous);
  auto condition = rnn::CompareOp::create(builder, loc, declared.type.withKind(rnn::Kind::Bool),
                                          rnn::CompareKind::Eq, previous, previous);
  return it->second.value =
             rnn::WhereOp::create(builder, loc, declared.type, condition, value, value);
}

/// h[t-n], n > 0. Hidden states carry h for n > 1; they need names of their own.
Value EquationBuilder::earlierState(const Node& node, const Declared& declared) {
  std::string id = node.text.str();
  if (node.back > rnn::kMaxOrder) {
    error(node.span, "RNN0301",
          "a state is read at most " + std::to_string(rnn::kMaxOrder) + " steps back",
          "only an input, x[t-n], reaches further");
    return {};
  }
  for (int64_t back = 1; back < node.back; ++back) {
    std::string carrier = rnn::shiftName(node.text, back);
    if (!scope.isAnnounced(carrier))
      continue;
    error(node.span, "RNN0118",
          "'" + carrier + "' is the name of a hidden state that carries '" + id +
              "' to later steps, and declared in the cell",
          "call the other something else");
    return {};
  }
  return rnn::StateAtOp::create(builder, location(node.span), declared.type, node.text, node.back);
}

/// x[t-n]: an input, a previous state, or what this step has defined already.
Value EquationBuilder::atTime(const Node& node) {
  std::string id = node.text.str();
  Declared* declared = scope.find(node.text);
  if (!declared) {
    bool known = values.contains(node.text) || order.equationOf(node.text);
    if (known && !order[*order.equationOf(node.text)].broken) {
      error(node.span, "RNN0113", "'" + id + "' is a value of this step and has no time",
            node.back == 0 ? "write " + id + " without brackets"
                           : "only a state is carried from step to step: state " + id + " : [...]");
      return {};
    }
    return known ? Value() : undefined(node);
  }
  const Equation& reader = order[current];
  declared->used |= !(reader.atTime && reader.name == node.text); // its own equation is no use
  if (declared->broken)
    return {};
  Location loc = location(node.span);
  switch (declared->decl->kind) {
  case Declaration::Input:
    return rnn::InputAtOp::create(builder, loc, declared->type, node.text, node.back);
  case Declaration::State:
    if (node.back == 0)
      return newValue(node, *declared);
    return earlierState(node, *declared);
  case Declaration::Output:
    if (node.back == 0)
      return newValue(node, *declared);
    error(node.span, "RNN0114", "an output of an earlier step cannot be read",
          "make '" + id + "' a state");
    return {};
  default:
    error(node.span, "RNN0113", "'" + id + "' has no time", "write " + id + " without brackets");
    return {};
  }
}

/// A user's function: a frame of its own. Recursion was refused when it was declared.
bool EquationBuilder::enter(const Node& node, const DeclaredFunction& declared) {
  const Function& function = *declared.function;
  if (static_cast<int64_t>(frames.size()) > options.limits.nesting) {
    error(node.span, "RNN0006", "calls nest deeper than " + std::to_string(options.limits.nesting),
          "raise the limit with --limit nesting=N");
    return false;
  }
  Frame frame{&function,
              function.body.empty() ? &function.result : &function.body[0].value,
              0,
              0,
              {},
              node.span,
              declared.home};
  size_t first = stack.size() - function.params.size();
  for (size_t i = 0; i < function.params.size(); ++i)
    frame.locals[function.params[i].first] = stack[first + i].value;
  stack.resize(first);
  frames.push_back(std::move(frame));
  return true;
}

void EquationBuilder::call(const Node& node) {
  Span whole{node.begin, node.end - node.begin};
  size_t first = stack.size() - node.arguments;
  bool fine = checkCall(node, here(), diagnostics);
  if (DeclaredFunction* declared = here().findFunction(node.text); fine && declared) {
    if (enter(node, *declared))
      return;
    fine = false;
  }
  SmallVector<Operand> args(stack.begin() + first, stack.end());
  stack.resize(first);
  fine = fine && llvm::all_of(args, [](Operand a) { return static_cast<bool>(a.value); });
  stack.push_back({fine ? builtin(node, *findBuiltin(node.text), args) : Value(), whole});
}

/// An operator: its operands are on the stack.
void EquationBuilder::operate(const Node& node) {
  bool isUnary = node.op == Node::Neg || node.op == Node::Not;
  Operand b = stack.back(), a = b;
  stack.pop_back();
  if (!isUnary) {
    a = stack.back();
    stack.pop_back();
  }
  Value result;
  if (!a.value || !b.value)
    result = {};
  else if (node.op == Node::Neg)
    result = numeric(a) ? unary(location(node.span), rnn::UnaryKind::Neg, a.value) : Value();
  else if (node.op == Node::Compare)
    result = compare(node.span, node.text, a, b);
  else if (node.op != Node::Binary)
    result = logic(node, a, b);
  else if (node.text == "@")
    result = matmul(node.span, a, b);
  else if (node.text == "^")
    result = power(node.span, a, b);
  else
    result = binary(node.span, binarySign(node.text), a, b);
  stack.push_back({result, {node.begin, node.end - node.begin}});
}

/// One node of postfix code.
void EquationBuilder::step(const Node& node) {
  Span whole{node.begin, node.end - node.begin};
  switch (node.op) {
  case Node::Number:
    return stack.push_back({number(location(node.span), node.number), whole});
  case Node::Name:
    return stack.push_back({name(node), whole});
  case Node::At:
    return stack.push_back({atTime(node), whole});
  case Node::Call:
    return call(node);
  case Node::Index:
    return index(node);
  case Node::Transpose:
    return transpose(node);
  default:
    return operate(node);
  }
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
  frame.locals[function.body[frame.line].name] = stack.back().value;
  stack.pop_back();
  ++frame.line;
  frame.code =
      frame.line == function.body.size() ? &function.result : &function.body[frame.line].value;
  frame.next = 0;
  return true;
}

Value EquationBuilder::build(const Expr& expr, size_t index) {
  current = index;
  stack.clear();
  frames.clear();
  frames.push_back({nullptr, &expr, 0, 0, {}, {}, &scope});
  while (true) {
    Frame& frame = frames.back();
    if (frame.next == frame.code->size()) {
      if (!finishLine())
        break;
      continue;
    }
    const Node& node = (*frame.code)[frame.next++];
    if (!count(node.span) || diagnostics.full())
      return {};
    step(node);
  }
  frames.clear();
  return stack.back().value;
}
