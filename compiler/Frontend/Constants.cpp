//===- Constants.cpp - constant expressions, in float64
//--------------------------------------------------===//

#include "Frontend/Builtins.h"
#include "Frontend/Scope.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <numbers>

using namespace rnnc;
using namespace rnnc::ast;

static std::optional<double> nameValue(const Node& node, Scope& scope,
                                       DiagnosticEngine& diagnostics) {
  if (Declared* declared = scope.find(node.text)) {
    declared->used = true;
    bool isConst = declared->decl->kind == Declaration::Const;
    if (isConst || (declared->decl->kind == Declaration::DimDecl && declared->constant > 0))
      return declared->constant;
    reportAt(diagnostics, node.span, "RNN0203",
             "'" + node.text.str() + "' is not known at compile time",
             declared->decl->kind == Declaration::DimDecl
                 ? "fix the size in the file or with --dim " + node.text.str() + "=N"
                 : "use numbers, consts and fixed dims here");
    return std::nullopt;
  }
  if (node.text == "pi")
    return std::numbers::pi;
  if (node.text == "inf")
    return INFINITY;
  reportAt(diagnostics, node.span, "RNN0110", "'" + node.text.str() + "' is not defined");
  return std::nullopt;
}

static std::optional<rnn::BinaryKind> binaryKind(llvm::StringRef sign) {
  return llvm::StringSwitch<std::optional<rnn::BinaryKind>>(sign)
      .Case("+", rnn::BinaryKind::Add)
      .Case("-", rnn::BinaryKind::Sub)
      .Case("*", rnn::BinaryKind::Mul)
      .Case("/", rnn::BinaryKind::Div)
      .Case("^", rnn::BinaryKind::Pow)
      .Default(std::nullopt);
}

std::optional<double> rnnc::evaluateConstant(const Expr& expr, Scope& scope,
                                             DiagnosticEngine& diagnostics) {
  std::vector<double> stack;
  auto pop = [&] {
    double value = stack.back();
    stack.pop_back();
    return value;
  };
  for (const Node& node : expr) {
    const Builtin* builtin = node.op == Node::Call ? findBuiltin(node.text) : nullptr;
    auto binary = binaryKind(node.text);
    if (node.op == Node::Number) {
      stack.push_back(node.number);
    } else if (node.op == Node::Name) {
      auto value = nameValue(node, scope, diagnostics);
      if (!value)
        return std::nullopt;
      stack.push_back(*value);
    } else if (node.op == Node::Neg) {
      stack.back() = -stack.back();
    } else if (node.op == Node::Binary && binary) {
      double b = pop(), a = pop();
      stack.push_back(rnn::evaluate(*binary, a, b));
    } else if (builtin && builtin->kind == Builtin::Unary && node.arguments == 1) {
      stack.back() = rnn::evaluate(builtin->unary, stack.back());
    } else if (builtin && builtin->kind == Builtin::Binary && node.arguments == 2) {
      double b = pop(), a = pop();
      stack.push_back(rnn::evaluate(builtin->binary, a, b));
    } else {
      reportAt(diagnostics, node.span, "RNN0203", "this is not a constant expression",
               "use numbers, consts, fixed dims and element-wise functions here");
      return std::nullopt;
    }
  }
  return stack.back();
}
