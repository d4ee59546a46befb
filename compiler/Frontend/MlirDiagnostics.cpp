//===- MlirDiagnostics.cpp - MLIR's messages at the user's places -----------------------------===//

#include "rnnc/Frontend.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"

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

/// Bytes of the name, number or sign that begins at a place: locations have no length.
static unsigned lengthAt(const rnnc::DiagnosticEngine& engine, StringRef file, unsigned line,
                         unsigned column) {
  StringRef rest = engine.line(file, line).substr(column - 1);
  size_t word = rest.find_if_not([](char c) { return llvm::isAlnum(c) || c == '_' || (c & 0x80); });
  return std::max<size_t>(std::min(word, rest.size()), 1);
}

/// Takes a code off the end of a text: "too large [RNN0402]".
static std::string takeCode(std::string& text) {
  constexpr size_t kLength = sizeof(" [RNN0402]") - 1;
  if (text.size() <= kLength || text.back() != ']' ||
      StringRef(text).take_back(kLength).take_front(5) != " [RNN")
    return "RNN0499";
  std::string code = text.substr(text.size() - kLength + 2, kLength - 3);
  text.resize(text.size() - kLength);
  return code;
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
    diagnostic.code = takeCode(text);
    diagnostic.text = std::move(text);
    for (mlir::Diagnostic& note : message.getNotes())
      diagnostic.hint += (diagnostic.hint.empty() ? "" : "; ") + note.str();
    if (FileLineColLoc place = placeOf(message.getLocation())) {
      diagnostic.file = place.getFilename().str();
      diagnostic.line = std::max(place.getLine(), 1u);
      diagnostic.column = std::max(place.getColumn(), 1u);
    }
    if (diagnostic.file.empty())
      diagnostic.file = engine.file();
    diagnostic.length = lengthAt(engine, diagnostic.file, diagnostic.line, diagnostic.column);
    engine.report(std::move(diagnostic));
  });
}

MlirDiagnostics::~MlirDiagnostics() { context.getDiagEngine().eraseHandler(id); }
