//===- LineWriter.cpp - text whose lines know where they come from ---------------------------===//

#include "Target/Cuda/LineWriter.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace rnnc::cuda;

std::string LineWriter::printable(llvm::StringRef name) {
  std::string text;
  for (char c : name)
    text += llvm::isPrint(c) && c != '"' && c != '\\' ? c : '?';
  return text;
}

void LineWriter::line(const llvm::Twine& more) {
  std::string lines = more.str();
  text += lines + "\n";
  int64_t count = 1 + llvm::StringRef(lines).count('\n');
  written += count;
  placeLine += count;
}

void LineWriter::from(llvm::StringRef file, int64_t number) {
  std::string name = printable(file);
  if (place == name && placeLine == number)
    return;
  text += "#line " + std::to_string(number) + (place == name ? "" : " \"" + name + "\"") + "\n";
  ++written;
  place = std::move(name);
  placeLine = number;
}

void LineWriter::fromUnit() {
  if (place.empty())
    return;
  ++written;
  text += "#line " + std::to_string(written + 1) + " \"" + unit + "\"\n";
  place.clear();
  placeLine = written + 1;
}

std::string rnnc::cuda::wrapped(std::string begin, llvm::ArrayRef<std::string> items,
                                llvm::StringRef end, size_t indent) {
  if (items.empty())
    return begin + end.str();
  std::string text;
  for (auto [i, item] : llvm::enumerate(items)) {
    bool last = i + 1 == items.size();
    std::string piece = item + (last ? end.str() : ",");
    if (i && begin.size() + 1 + piece.size() > kColumns) {
      text += begin + "\n";
      begin = std::string(indent, ' ') + piece;
    } else {
      begin += (i ? " " : "") + piece;
    }
  }
  return text + begin;
}

/// Columns do not matter: a statement of the user's has several operations.
static bool isSameLine(mlir::FileLineColLoc a, mlir::FileLineColLoc b) {
  return a && b ? a.getFilename() == b.getFilename() && a.getLine() == b.getLine() : !a && !b;
}

void StatementWriter::write(mlir::Location loc, unsigned indent, llvm::StringRef type,
                            const llvm::Twine& text) {
  auto from = loc->findInstanceOf<mlir::FileLineColLoc>();
  std::string more = text.str();
  bool same = !pending.empty() && indent == pendingIndent && isSameLine(from, pendingFrom);
  if (same && !type.empty() && lastType == type && pending.size() + more.size() < kColumns) {
    pending.back() = ',';
    pending += " " + more;
    return;
  }
  more = type.str() + more;
  if (!same || pending.size() + more.size() + 1 > kColumns)
    flush();
  pending += pending.empty() ? std::string(indent, ' ') + more : " " + more;
  pendingIndent = indent;
  pendingFrom = from;
  lastType = type.str();
}

void StatementWriter::flush() {
  if (pending.empty())
    return;
  if (pendingFrom && pendingFrom.getLine() > 0)
    out.from(pendingFrom.getFilename(), pendingFrom.getLine());
  else
    out.fromUnit();
  out.line(pending);
  pending.clear();
}
