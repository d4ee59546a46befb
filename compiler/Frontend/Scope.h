//===- Scope.h - the names of a file and of its cells -----------------------------------------===//
#pragma once

#include "Frontend/Ast.h"
#include "Frontend/Parser.h"
#include "Rnn/Rnn.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace rnnc {

/// A declared tensor, dim or const.
struct Declared {
  const ast::Declaration* decl;
  rnn::ArrayType type; // of tensors
  double constant =
      0; // of a const; of a dim its size, or -1 where it is free; of a state its start
  bool used = false;
  bool broken = false;        // reported already; its uses are silent
  llvm::StringRef start = {}; // of a state that begins as a param: its name
};

struct Scope;

struct DeclaredFunction {
  const ast::Function* function;
  bool used = false;
  bool broken = false;
  Scope* home = nullptr; // what its body sees: a function of an imported file sees that file's
};

/// Everything that equations can name. A cell's scope lies within the file's, and no name of the
/// outer one is taken again inside.
struct Scope {
  explicit Scope(Scope* outer = nullptr) : outer(outer) {}

  Scope* outer;
  llvm::StringMap<Declared> declared;
  llvm::StringMap<DeclaredFunction> functions;
  /// Names that are declared somewhere, above or below.
  llvm::StringSet<> announced;
  /// Names that stand on lines which made no sense: what they are is not known, so nothing is said.
  llvm::StringSet<> lost;
  /// An import could not be read: what functions it has is not known either.
  bool incomplete = false;

  Declared* find(llvm::StringRef name);
  DeclaredFunction* findFunction(llvm::StringRef name);
  bool isLost(llvm::StringRef name) const;
  bool isAnnounced(llvm::StringRef name) const;
  /// The names of what `wanted` accepts, sorted: candidates for a spelling suggestion.
  std::vector<std::string> names(llvm::function_ref<bool(const Declared&)> wanted) const;
};

/// "did you mean 'x'?", or nothing.
std::string didYouMean(llvm::StringRef name, const std::vector<std::string>& candidates);

/// The value of a constant expression, by consts, fixed dims, pi, inf and element-wise functions;
/// nothing after an error was reported.
std::optional<double> evaluateConstant(const ast::Expr& expr, Scope& scope,
                                       DiagnosticEngine& diagnostics);

} // namespace rnnc
