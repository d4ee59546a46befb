//===- Diagnostics.cpp - collecting and printing messages
//-------------------------------------------===//

#include "rnnc/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <tuple>

using namespace rnnc;

namespace {
constexpr size_t kMaxErrors = 20; // more help nobody
constexpr size_t kMaxQuoted = 160;
} // namespace

void DiagnosticEngine::setSource(std::string file, std::string source) {
  fileName = std::move(file);
  text = std::move(source);
  lineStarts = {0};
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n')
      lineStarts.push_back(i + 1);
}

std::pair<unsigned, unsigned> DiagnosticEngine::lineAndColumn(size_t offset) const {
  auto next = std::upper_bound(lineStarts.begin(), lineStarts.end(), offset);
  return {next - lineStarts.begin(), offset - *(next - 1) + 1};
}

void DiagnosticEngine::report(Diagnostic diagnostic) {
  if (diagnostic.file.empty())
    diagnostic.file = fileName;
  if (diagnostic.severity == Severity::Error && ++errorCount > kMaxErrors)
    return;
  diagnostics.push_back(std::move(diagnostic));
}

/// The quoted line with every byte that cannot be shown replaced, and how many characters stand
/// before the column; a window around the column where the line is long.
static std::pair<std::string, size_t> quote(llvm::StringRef line, size_t column) {
  size_t from = line.size() > kMaxQuoted && column > kMaxQuoted / 2 ? column - kMaxQuoted / 2 : 0;
  auto clean = [](llvm::StringRef text) {
    std::string shown;
    for (char c : text)
      shown += c == '\t' ? ' ' : static_cast<unsigned char>(c) < 32 ? '?' : c;
    return llvm::json::isUTF8(shown) ? shown : llvm::json::fixUTF8(shown);
  };
  std::string before = clean(line.slice(from, column));
  size_t characters = llvm::count_if(before, [](char c) { return (c & 0xC0) != 0x80; });
  return {before + clean(line.slice(column, from + kMaxQuoted)), characters};
}

/// By place: passes over the text find things in another order than a reader.
static std::vector<Diagnostic> inOrder(std::vector<Diagnostic> diagnostics) {
  llvm::stable_sort(diagnostics, [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  return diagnostics;
}

void DiagnosticEngine::print(llvm::raw_ostream& out, bool color) const {
  for (const Diagnostic& d : inOrder(diagnostics)) {
    bool error = d.severity == Severity::Error;
    out << d.file << ":" << d.line << ":" << d.column << ": ";
    if (color)
      out.changeColor(error ? llvm::raw_ostream::RED : llvm::raw_ostream::MAGENTA, true);
    out << (error ? "error: " : "warning: ");
    if (color)
      out.resetColor();
    out << d.text << " [" << d.code << "]\n";
    if (d.file == fileName && d.line <= lineStarts.size()) {
      size_t start = lineStarts[d.line - 1];
      llvm::StringRef line = llvm::StringRef(text).substr(start).split('\n').first;
      auto [shown, column] = quote(line, d.column - 1);
      if (!shown.empty()) {
        size_t room = shown.size() > column ? shown.size() - column : 1;
        out << "  " << shown << "\n  " << std::string(column, ' ') << '^'
            << std::string(std::min<size_t>(std::max(d.length, 1u) - 1, room - 1), '~') << "\n";
      }
    }
    if (!d.hint.empty())
      out << "  hint: " << d.hint << "\n";
  }
  if (errorCount > kMaxErrors)
    out << fileName << ": " << errorCount - kMaxErrors << " more errors\n";
}

void DiagnosticEngine::printJson(llvm::raw_ostream& out) const {
  for (const Diagnostic& d : inOrder(diagnostics)) {
    llvm::json::Object object{{"file", llvm::json::fixUTF8(d.file)},
                              {"line", d.line},
                              {"column", d.column},
                              {"severity", d.severity == Severity::Error ? "error" : "warning"},
                              {"code", d.code},
                              {"text", llvm::json::fixUTF8(d.text)}};
    if (!d.hint.empty())
      object["hint"] = llvm::json::fixUTF8(d.hint);
    out << llvm::json::Value(std::move(object)) << "\n";
  }
}

std::optional<std::string> rnnc::nearest(llvm::StringRef name,
                                         const std::vector<std::string>& candidates) {
  unsigned best = name.size() <= 2 ? 1 : name.size() <= 6 ? 2 : 3;
  std::optional<std::string> found;
  for (const std::string& candidate : candidates) {
    unsigned distance = name.edit_distance(candidate, true, best);
    if (distance > best || candidate == name || distance >= std::max(name.size(), candidate.size()))
      continue;
    if (!found || distance < best) {
      found = candidate;
      best = distance;
    }
  }
  return found;
}
