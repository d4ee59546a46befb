//===- Functions.h - what can be said of a function before it is called -----------------------===//
#pragma once

#include "Frontend/Scope.h"

namespace rnnc {

/// Declares the functions in the scope and checks their names, calls and recursion, each once and
/// whether it is called or not. Those with an error are broken: calls of them are silent.
void declareFunctions(const std::vector<ast::Function>& functions, Scope& scope,
                      DiagnosticEngine& diagnostics);

/// Whether a call can be what it is: a known function, as many arguments as it takes, an axis only
/// where one is taken. Marks a user's function as used. False after a message, or where the
/// function is broken.
bool checkCall(const ast::Node& call, Scope& scope, DiagnosticEngine& diagnostics);

/// What to do where a function has the name already; says where that is, if in another file.
std::string takenHint(llvm::StringRef name, ast::Span at, Scope& scope,
                      DiagnosticEngine& diagnostics);

/// Warnings for the functions of the scope that nothing calls.
void warnUnusedFunctions(const std::vector<ast::Function>& functions, Scope& scope,
                         DiagnosticEngine& diagnostics);

} // namespace rnnc
