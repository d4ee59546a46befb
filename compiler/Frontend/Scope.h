//===- Scope.h - the names of a cell
//--------------------------------------------------------------------===//
#pragma once

#include "Frontend/Ast.h"
#include "Frontend/Parser.h"
#include "Rnn/Rnn.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace rnnc {

/// A declared tensor, dim or const of the cell that is being built.
struct Declared {
  const ast::Declaration* decl;
  rnn::ArrayType type; // of tensors
  double constant = 0; // of a const; of a dim its size, or -1
  bool used = false;
};

/// Everything that equations can name, and the functions.
struct Scope {
  llvm::StringMap<Declared> declared;
  llvm::StringMap<const ast::Function*> functions;

  Declared* find(llvm::StringRef name) {
    auto it = declared.find(name);
    return it == declared.end() ? nullptr : &it->second;
  }
};

/// The value of a constant expression, by consts, fixed dims, pi, inf and element-wise functions;
/// nothing after an error was reported.
std::optional<double> evaluateConstant(const ast::Expr& expr, Scope& scope,
                                       DiagnosticEngine& diagnostics);

} // namespace rnnc
