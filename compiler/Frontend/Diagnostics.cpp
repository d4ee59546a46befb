//===- Diagnostics.cpp - collecting and printing messages -------------------------------------===//

#include "rnnc/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <tuple>

using namespace rnnc;

namespace {
constexpr size_t kMaxErrors = 20; // more help nobody
constexpr size_t kMaxWarnings = 20;
constexpr size_t kMaxQuoted = 160;
constexpr size_t kMaxSuggested = 64; // bytes of a name: edit distance is quadratic
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

llvm::StringRef DiagnosticEngine::line(unsigned number) const {
  if (number < 1 || number > lineStarts.size())
    return {};
  return llvm::StringRef(text).substr(lineStarts[number - 1]).split('\n').first.rtrim('\r');
}

void DiagnosticEngine::report(Diagnostic diagnostic) {
  if (diagnostic.file.empty())
    diagnostic.file = fileName;
  auto same = [&](const Diagnostic& d) {
    return d.line == diagnostic.line && d.column == diagnostic.column &&
           d.code == diagnostic.code && d.text == diagnostic.text && d.file == diagnostic.file;
  };
  if (llvm::any_of(diagnostics, same)) // a function's body is met at every call
    return;
  bool error = diagnostic.severity == Severity::Error;
  if (error ? ++errorCount > kMaxErrors : ++warningCount > kMaxWarnings)
    return;
  diagnostics.push_back(std::move(diagnostic));
}

bool DiagnosticEngine::full() const { return errorCount > kMaxErrors; }

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

/// The line of the text that a message is about, with a caret under it.
static void printLine(llvm::raw_ostream& out, llvm::StringRef line, size_t column, size_t length) {
  auto [shown, before] = quote(line, column);
  if (shown.empty())
    return;
  llvm::StringRef marked = line.substr(column, length);
  size_t width = llvm::count_if(marked, [](char c) { return (c & 0xC0) != 0x80; });
  size_t room = shown.size() > before ? shown.size() - before : 1;
  width = std::clamp<size_t>(width, 1, room);
  out << "  " << shown << "\n  " << std::string(before, ' ') << '^' << std::string(width - 1, '~')
      << "\n";
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
    if (d.file == fileName)
      printLine(out, line(d.line), d.column - 1, d.length);
    if (!d.hint.empty())
      out << "  hint: " << d.hint << "\n";
  }
  if (full())
    out << fileName << ": only the first " << kMaxErrors << " errors are shown\n";
  if (warningCount > kMaxWarnings)
    out << fileName << ": only the first " << kMaxWarnings << " warnings are shown\n";
}

void DiagnosticEngine::printJson(llvm::raw_ostream& out) const {
  for (const Diagnostic& d : inOrder(diagnostics)) {
    llvm::json::Object object{{"file", llvm::json::fixUTF8(d.file)},
                              {"line", d.line},
                              {"column", d.column},
                              {"length", d.length},
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
  if (name.size() > kMaxSuggested)
    return found;
  for (const std::string& candidate : candidates) {
    unsigned distance = name.edit_distance(candidate, true, best);
    if (distance > best || candidate == name || candidate.size() > kMaxSuggested ||
        distance >= std::max(name.size(), candidate.size()))
      continue;
    if (!found || distance < best) {
      found = candidate;
      best = distance;
    }
  }
  return found;
}
