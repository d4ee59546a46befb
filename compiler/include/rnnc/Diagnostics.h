//===- Diagnostics.h - what the user is told --------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <memory>
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

/// A file's text. Offsets count through all texts of an engine; this one's begin at `base`.
struct SourceText {
  std::string file, text;
  size_t base = 0;
  std::vector<uint32_t> lineStarts; // within the text
};

/// Collects messages of a file and of those that it imports; prints them with the line and a caret.
class DiagnosticEngine {
public:
  DiagnosticEngine();
  /// The text that messages quote, and no other; null characters and broken UTF-8 are allowed.
  void setSource(std::string file, std::string text);
  /// One more text. It stays where it is as long as the engine or one that shares it lives.
  const SourceText& addSource(std::string file, std::string text);
  /// Takes the texts of another engine, not its messages.
  void shareSources(const DiagnosticEngine& other) { sources = other.sources; }

  /// Of the first text.
  const std::string& file() const { return sources.front()->file; }
  llvm::StringRef source() const { return sources.front()->text; }
  const SourceText& mainSource() const { return *sources.front(); }
  /// Bytes of all texts.
  size_t totalBytes() const;

  /// Keeps the message, unless the same was said of the same place, or there are too many.
  void report(Diagnostic diagnostic);
  /// The text that an offset lies in.
  const SourceText& sourceAt(size_t offset) const;
  /// A stretch of a text.
  llvm::StringRef text(size_t offset, size_t length) const;
  /// Place of a byte offset in its text.
  std::pair<unsigned, unsigned> lineAndColumn(size_t offset) const;
  /// "line 3", with the file's name where it is not the one that `from` lies in.
  std::string lineText(size_t offset, size_t from) const;
  /// The text of a line of a file, counted from 1; empty past the end.
  llvm::StringRef line(llvm::StringRef file, unsigned number) const;

  size_t errors() const { return errorCount; }
  /// So many errors that a search for more helps nobody; what still comes is dropped.
  bool full() const;
  const std::vector<Diagnostic>& all() const { return diagnostics; }

  /// `file:line:col: error: text [RNN0102]`, the line, a caret, the hint.
  void print(llvm::raw_ostream& out, bool color) const;
  /// One JSON object a line.
  void printJson(llvm::raw_ostream& out) const;

private:
  /// The messages by file and place.
  std::vector<Diagnostic> inOrder() const;

  std::vector<std::shared_ptr<const SourceText>> sources; // at least one
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
