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

static std::shared_ptr<SourceText> makeSource(std::string file, std::string text, size_t base) {
  auto source = std::make_shared<SourceText>();
  source->file = std::move(file);
  source->text = std::move(text);
  source->base = base;
  source->lineStarts.reserve(1 + llvm::StringRef(source->text).count('\n'));
  source->lineStarts.push_back(0);
  for (size_t i = 0; i < source->text.size(); ++i)
    if (source->text[i] == '\n')
      source->lineStarts.push_back(static_cast<uint32_t>(i + 1));
  return source;
}

DiagnosticEngine::DiagnosticEngine() { setSource("", ""); }

void DiagnosticEngine::setSource(std::string file, std::string text) {
  sources = {makeSource(std::move(file), std::move(text), 0)};
}

const SourceText& DiagnosticEngine::addSource(std::string file, std::string text) {
  // One place past the end belongs to a text: what is missing there is reported there.
  size_t base = sources.back()->base + sources.back()->text.size() + 1;
  sources.push_back(makeSource(std::move(file), std::move(text), base));
  return *sources.back();
}

size_t DiagnosticEngine::totalBytes() const {
  return sources.back()->base + sources.back()->text.size();
}

const SourceText& DiagnosticEngine::sourceAt(size_t offset) const {
  auto next = llvm::upper_bound(sources, offset,
                                [](size_t at, const auto& source) { return at < source->base; });
  return **(next - 1);
}

llvm::StringRef DiagnosticEngine::text(size_t offset, size_t length) const {
  const SourceText& source = sourceAt(offset);
  return llvm::StringRef(source.text).substr(offset - source.base, length);
}

std::pair<unsigned, unsigned> DiagnosticEngine::lineAndColumn(size_t offset) const {
  const SourceText& source = sourceAt(offset);
  offset -= source.base;
  auto next = llvm::upper_bound(source.lineStarts, offset);
  return {next - source.lineStarts.begin(), offset - *(next - 1) + 1};
}

std::string DiagnosticEngine::lineText(size_t offset, size_t from) const {
  const SourceText& source = sourceAt(offset);
  std::string text = "line " + std::to_string(lineAndColumn(offset).first);
  return &source == &sourceAt(from) ? text : text + " of " + source.file;
}

llvm::StringRef DiagnosticEngine::line(llvm::StringRef file, unsigned number) const {
  for (const auto& source : sources)
    if (source->file == file && number >= 1 && number <= source->lineStarts.size())
      return llvm::StringRef(source->text)
          .substr(source->lineStarts[number - 1])
          .split('\n')
          .first.rtrim('\r');
  return {};
}

void DiagnosticEngine::report(Diagnostic diagnostic) {
  if (diagnostic.file.empty())
    diagnostic.file = file();
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

/// Passes over the text find things in another order than a reader.
std::vector<Diagnostic> DiagnosticEngine::inOrder() const {
  auto rank = [&](const Diagnostic& d) {
    return llvm::find_if(sources, [&](const auto& source) { return source->file == d.file; }) -
           sources.begin();
  };
  std::vector<std::pair<size_t, Diagnostic>> ranked;
  for (const Diagnostic& d : diagnostics)
    ranked.push_back({rank(d), d});
  llvm::stable_sort(ranked, [](const auto& a, const auto& b) {
    return std::tie(a.first, a.second.line, a.second.column) <
           std::tie(b.first, b.second.line, b.second.column);
  });
  std::vector<Diagnostic> ordered;
  for (auto& entry : ranked)
    ordered.push_back(std::move(entry.second));
  return ordered;
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
  for (const Diagnostic& d : inOrder()) {
    bool error = d.severity == Severity::Error;
    out << d.file << ":" << d.line << ":" << d.column << ": ";
    if (color)
      out.changeColor(error ? llvm::raw_ostream::RED : llvm::raw_ostream::MAGENTA, true);
    out << (error ? "error: " : "warning: ");
    if (color)
      out.resetColor();
    out << d.text << " [" << d.code << "]\n";
    printLine(out, line(d.file, d.line), d.column - 1, d.length);
    if (!d.hint.empty())
      out << "  hint: " << d.hint << "\n";
  }
  if (full())
    out << file() << ": only the first " << kMaxErrors << " errors are shown\n";
  if (warningCount > kMaxWarnings)
    out << file() << ": only the first " << kMaxWarnings << " warnings are shown\n";
}

void DiagnosticEngine::printJson(llvm::raw_ostream& out) const {
  for (const Diagnostic& d : inOrder()) {
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
