//===- Constants.cpp - constant expressions, in float64 ---------------------------------------===//

#include "Frontend/Builtins.h"
#include "Frontend/Functions.h"
#include "Frontend/Scope.h"

#include <cmath>
#include <numbers>

using namespace rnnc;
using namespace rnnc::ast;

static std::optional<double> nameValue(const Node& node, Scope& scope,
                                       DiagnosticEngine& diagnostics) {
  std::string id = node.text.str();
  if (Declared* declared = scope.find(node.text)) {
    declared->used = true;
    if (declared->broken)
      return std::nullopt;
    bool isDim = declared->decl->kind == Declaration::DimDecl;
    if (declared->decl->kind == Declaration::Const || (isDim && declared->constant > 0))
      return declared->constant;
    reportAt(diagnostics, node.span, "RNN0203", "'" + id + "' is not known at compile time",
             isDim ? "fix the size in the file or with --dim " + id + "=N"
                   : "use numbers, consts and fixed dims here");
    return std::nullopt;
  }
  if (node.text == "pi")
    return std::numbers::pi;
  if (node.text == "inf")
    return INFINITY;
  if (scope.isLost(node.text))
    return std::nullopt;
  std::vector<std::string> known = scope.names([](const Declared& declared) {
    return declared.decl->kind == Declaration::Const || declared.constant > 0;
  });
  reportAt(diagnostics, node.span, "RNN0110", "'" + id + "' is not defined",
           scope.isAnnounced(node.text) ? "it is declared below; move it up"
                                        : didYouMean(node.text, known));
  return std::nullopt;
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
    if (node.op == Node::Number) {
      stack.push_back(node.number);
    } else if (node.op == Node::Name) {
      auto value = nameValue(node, scope, diagnostics);
      if (!value)
        return std::nullopt;
      stack.push_back(*value);
    } else if (node.op == Node::Neg) {
      stack.back() = -stack.back();
    } else if (node.op == Node::Binary && node.text != "@") {
      double b = pop(), a = pop();
      stack.push_back(rnn::evaluate(binarySign(node.text), a, b));
    } else if (builtin && builtin->kind == Builtin::Unary && node.arguments == 1) {
      stack.back() = rnn::evaluate(builtin->unary, stack.back());
    } else if (builtin && builtin->kind == Builtin::Binary && node.arguments == 2) {
      double b = pop(), a = pop();
      stack.push_back(rnn::evaluate(builtin->binary, a, b));
    } else if (node.op == Node::Call && !checkCall(node, scope, diagnostics)) {
      return std::nullopt;
    } else {
      bool isComplex = builtin && builtin->kind == Builtin::Complex;
      reportAt(diagnostics, node.span, "RNN0203", "this is not a constant expression",
               isComplex ? "constants are real numbers: write complex(a, b) in the equation"
                         : "use numbers, consts, fixed dims and element-wise functions here");
      return std::nullopt;
    }
  }
  return stack.back();
}
