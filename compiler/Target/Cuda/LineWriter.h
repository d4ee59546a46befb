//===- LineWriter.h - text whose lines know where they come from -----------------------------===//
#pragma once

#include "mlir/IR/Location.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <cstdint>
#include <string>

namespace rnnc::cuda {

/// Columns of a printed line.
inline constexpr size_t kColumns = 100;

/// Collects the lines of a unit. `#line` is written only where a compiler would count wrongly.
class LineWriter {
public:
  /// `unit` is the name by which messages call the text itself.
  explicit LineWriter(llvm::StringRef unit) : unit(printable(unit)) {}

  /// One line, or several that belong together; without the last newline.
  void line(const llvm::Twine& text = "");
  /// The next line stems from this place of the user's text.
  void from(llvm::StringRef file, int64_t number);
  /// The next line is the unit's own.
  void fromUnit();

  std::string take() { return std::move(text); }

  /// A file's name as it can stand in a comment or between quotes: what would end either becomes
  /// `?`.
  static std::string printable(llvm::StringRef name);

private:
  std::string unit, text;
  int64_t written = 0;   // lines
  std::string place;     // the file that a compiler believes the next line to be in; empty: unit
  int64_t placeLine = 1; // and its line
};

/// `begin` and the items with commas between them, broken between items where a line is full.
std::string wrapped(std::string begin, llvm::ArrayRef<std::string> items, llvm::StringRef end,
                    size_t indent);

/// Statements of a function's body. Those that stem from one line of the user's share a line, as
/// far as it holds them; neighbouring declarations of one type share its name too.
class StatementWriter {
public:
  explicit StatementWriter(LineWriter& out) : out(out) {}
  ~StatementWriter() { flush(); }

  /// `type`: of a declaration, with a space behind it; empty for any other statement.
  void write(mlir::Location from, unsigned indent, llvm::StringRef type, const llvm::Twine& text);
  /// The next statement begins a line.
  void flush();

private:
  LineWriter& out;
  std::string pending, lastType; // what is kept back, and the type of its last declaration
  unsigned pendingIndent = 0;
  mlir::FileLineColLoc pendingFrom;
};

} // namespace rnnc::cuda
