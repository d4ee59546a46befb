//===- Diagnostics.h - what the user is told --------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace rnnc {

enum class Severity { Error, Warning };

/// One message. Lines and columns count from 1; `length` is the width of the caret's underline in
/// bytes. `code` is stable: RNN0102.
struct Diagnostic {
  Severity severity = Severity::Error;
  std::string code = {}, text = {}, hint = {};
  std::string file = {};
  unsigned line = 1, column = 1, length = 1;
};

/// Collects messages of one file; prints them with the line and a caret.
class DiagnosticEngine {
public:
  /// The text that messages quote; null characters and broken UTF-8 are allowed.
  void setSource(std::string file, std::string text);
  const std::string& file() const { return fileName; }
  llvm::StringRef source() const { return text; }

  /// Keeps the message, unless the same was said of the same place, or there are too many.
  void report(Diagnostic diagnostic);
  /// Place of a byte offset in the source.
  std::pair<unsigned, unsigned> lineAndColumn(size_t offset) const;
  /// The text of a line, counted from 1; empty past the end.
  llvm::StringRef line(unsigned number) const;

  size_t errors() const { return errorCount; }
  /// So many errors that a search for more helps nobody; what still comes is dropped.
  bool full() const;
  const std::vector<Diagnostic>& all() const { return diagnostics; }

  /// `file:line:col: error: text [RNN0102]`, the line, a caret, the hint.
  void print(llvm::raw_ostream& out, bool color) const;
  /// One JSON object a line.
  void printJson(llvm::raw_ostream& out) const;

private:
  std::string fileName, text;
  std::vector<size_t> lineStarts{0};
  std::vector<Diagnostic> diagnostics;
  size_t errorCount = 0, warningCount = 0;
};

/// What `rnnc explain RNN0102` prints; nothing for an unknown code.
struct CodeText {
  const char *code, *title, *text;
};
const CodeText* findCode(llvm::StringRef code);
/// All codes, in order.
std::vector<const CodeText*> allCodes();

/// The candidate that `name` was probably meant to be, if one is near enough.
std::optional<std::string> nearest(llvm::StringRef name,
                                   const std::vector<std::string>& candidates);

} // namespace rnnc
