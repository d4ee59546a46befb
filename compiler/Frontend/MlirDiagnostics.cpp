//===- MlirDiagnostics.cpp - MLIR's messages at the user's places
//-----------------------------------------===//

#include "rnnc/Frontend.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"

using namespace mlir;
using namespace rnnc;

/// The first place in a text that a location leads to.
static FileLineColLoc placeOf(Location loc) {
  FileLineColLoc found;
  loc->walk([&](Location inner) {
    if (auto file = dyn_cast<FileLineColLoc>(inner)) {
      found = file;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return found;
}

MlirDiagnostics::MlirDiagnostics(MLIRContext& context, DiagnosticEngine& engine)
    : context(context) {
  id = context.getDiagEngine().registerHandler([&engine](mlir::Diagnostic& message) {
    if (message.getSeverity() == DiagnosticSeverity::Note ||
        message.getSeverity() == DiagnosticSeverity::Remark)
      return;
    rnnc::Diagnostic diagnostic;
    diagnostic.severity =
        message.getSeverity() == DiagnosticSeverity::Warning ? Severity::Warning : Severity::Error;
    std::string text = message.str();
    diagnostic.code = "RNN0499";
    if (StringRef(text).ends_with("]") && text.size() > 10 &&
        text.substr(text.size() - 10, 5) == " [RNN") {
      diagnostic.code = text.substr(text.size() - 8, 7);
      text.resize(text.size() - 10);
    }
    diagnostic.text = std::move(text);
    if (FileLineColLoc place = placeOf(message.getLocation())) {
      diagnostic.file = place.getFilename().str();
      diagnostic.line = std::max(place.getLine(), 1u);
      diagnostic.column = std::max(place.getColumn(), 1u);
    }
    engine.report(std::move(diagnostic));
  });
}

MlirDiagnostics::~MlirDiagnostics() { context.getDiagEngine().eraseHandler(id); }
