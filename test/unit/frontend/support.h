//===- support.h - what the tests of the front end share -------------------------------------===//
#pragma once

#include "rnnc/Frontend.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace rnnc::test {

/// Text compiled to the Rnn dialect, and what was said about it.
struct Compiled {
  std::unique_ptr<mlir::MLIRContext> context;
  DiagnosticEngine diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;

  /// The messages, as on a terminal without colours.
  std::string messages() const;
  /// The module as text; with places where `locations` is set.
  std::string ir(bool locations = false);
};

Compiled compile(std::string text, const FrontendOptions& options = {},
                 const std::string& file = "test.rnn");

/// A cell of vectors around `equations`: dim d; inputs x, w; params a, b; state h.
std::string cellOf(const std::string& equations);

std::string readFile(const std::string& path);

} // namespace rnnc::test
