//===- Diagnostics.cpp - collecting and printing messages
//-------------------------------------------===//

#include "rnnc/Diagnostics.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

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

/// The quoted line: tabs and unprintable bytes as single characters, so that the caret fits; a
/// window around the column where the line is long.
static std::pair<std::string, size_t> quote(llvm::StringRef line, size_t column) {
  size_t from = column > kMaxQuoted / 2 ? column - kMaxQuoted / 2 : 0;
  if (line.size() <= kMaxQuoted)
    from = 0;
  std::string shown;
  for (char c : line.substr(from, kMaxQuoted))
    shown += c == '\t' ? ' ' : static_cast<unsigned char>(c) < 32 ? '?' : c;
  return {shown, column - from};
}

void DiagnosticEngine::print(llvm::raw_ostream& out, bool color) const {
  for (const Diagnostic& d : diagnostics) {
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
  for (const Diagnostic& d : diagnostics) {
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
