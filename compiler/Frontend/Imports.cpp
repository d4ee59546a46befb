//===- Imports.cpp - a file with everything that it imports -----------------------------------===//
//
// What a text may make us read: regular files below the root folder, after symbolic links are
// followed, and within the limit on all texts together. Nothing else is opened, not even for a
// look.
//
//===----------------------------------------------------------------------------------------------===//

#include "Frontend/Imports.h"

#include "Frontend/Source.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

#include <fcntl.h>
#include <unistd.h>

using namespace rnnc;
using namespace rnnc::ast;
using llvm::SmallString;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace {

class Loader {
public:
  Loader(const FrontendOptions& options, DiagnosticEngine& diagnostics)
      : options(options), diagnostics(diagnostics) {}
  Program run();

private:
  bool findRoot();
  bool isMainAFile();
  void add(const SourceText& source, StringRef folder);
  std::optional<size_t> load(const Import& import, size_t importer);
  std::optional<std::string> resolve(const Import& import, StringRef folder);
  std::optional<std::string> read(const Import& import, StringRef real);
  bool isInside(StringRef real) const;
  std::nullopt_t fail(const Import& import, const char* code, std::string text,
                      std::string hint = "") {
    reportAt(diagnostics, import.span, code, std::move(text), std::move(hint));
    return std::nullopt;
  }
  std::nullopt_t outside(const Import& import) {
    return fail(import, "RNN0130", quoted(import) + " leads outside of the root folder",
                "imports stay within the folder of the file that rnnc is given, or the one of "
                "--root DIR");
  }
  static std::string quoted(const Import& import) { return "'" + import.path.str() + "'"; }

  const FrontendOptions& options;
  DiagnosticEngine& diagnostics;
  std::optional<bool> rooted; // whether there is a root; not known before the first import
  std::string root;           // its real path
  Program program;
  std::vector<std::string> folders; // of the program's files, as the user would name them
  llvm::StringMap<size_t> byPath;   // real paths
};

} // namespace

/// A text may come from standard input, which has no folder.
bool Loader::isMainAFile() {
  StringRef file = diagnostics.file();
  return !file.starts_with("/dev/") && !file.starts_with("/proc/") && fs::is_regular_file(file);
}

bool Loader::findRoot() {
  if (rooted)
    return *rooted;
  std::string folder = options.root;
  if (folder.empty() && isMainAFile()) {
    folder = path::parent_path(diagnostics.file()).str();
    if (folder.empty())
      folder = ".";
  }
  SmallString<128> real;
  std::error_code error = folder.empty() ? std::error_code() : fs::real_path(folder, real);
  if (error)
    diagnostics.report({Severity::Error, "RNN0130",
                        "--root " + folder + ": cannot be the root folder: " + error.message()});
  root = real.str().str();
  rooted = !root.empty();
  if (*rooted && !isMainAFile())
    folders.front() = root;
  return *rooted;
}

bool Loader::isInside(StringRef real) const {
  return real.consume_front(root) && (real.starts_with("/") || root == "/");
}

/// The real path of what an import names.
std::optional<std::string> Loader::resolve(const Import& import, StringRef folder) {
  if (!llvm::json::isUTF8(import.path) || import.path.empty() ||
      llvm::any_of(import.path, [](char c) { return static_cast<unsigned char>(c) < 0x20; }))
    return fail(import, "RNN0130", "this is not the name of a file");
  if (path::is_absolute(import.path))
    return fail(import, "RNN0130",
                "an import is relative to the file that it stands in; " + quoted(import) +
                    " is absolute");
  SmallString<128> joined(folder), real;
  path::append(joined, import.path);
  std::error_code error = fs::real_path(joined, real);
  if (!error)
    return isInside(real) ? std::optional(real.str().str()) : outside(import);
  // What lies outside is nobody's business, whether it is there or not.
  SmallString<128> wouldBe;
  if (fs::real_path(folder.empty() ? "." : folder, wouldBe))
    return outside(import);
  path::append(wouldBe, import.path);
  path::remove_dots(wouldBe, /*remove_dot_dot=*/true);
  if (!isInside(wouldBe))
    return outside(import);
  return fail(import, "RNN0008", "cannot read " + quoted(import) + ": " + error.message());
}

/// The text of a regular file. It is opened so that no pipe or device can make us wait, and looked
/// at once more when it is open: the path may mean something else by now.
std::optional<std::string> Loader::read(const Import& import, StringRef real) {
  std::string name = real.str();
  int file = ::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);
  if (file < 0)
    return fail(import, "RNN0008",
                "cannot read " + quoted(import) + ": " + llvm::sys::StrError(errno));
  auto close = llvm::make_scope_exit([&] { ::close(file); });
  fs::file_status status;
  SmallString<128> opened;
  if (fs::status(file, status) || !fs::is_regular_file(status))
    return fail(import, "RNN0008",
                "cannot read " + quoted(import) + ": it is " +
                    (fs::is_directory(status) ? "a directory" : "no regular file"));
  if (fs::real_path("/proc/self/fd/" + std::to_string(file), opened) || !isInside(opened))
    return outside(import);
  int64_t limit = sourceLimit(options.limits);
  int64_t left = std::max<int64_t>(0, limit - static_cast<int64_t>(diagnostics.totalBytes()) - 1);
  auto tooLarge = [&] {
    return fail(import, "RNN0009",
                "with " + quoted(import) + " the texts have more than " + std::to_string(limit) +
                    " bytes",
                "raise the limit with --limit source=SIZE");
  };
  if (status.getSize() > static_cast<uint64_t>(left))
    return tooLarge();
  auto text = readText(file, left);
  if (!text)
    return fail(import, "RNN0008",
                "cannot read " + quoted(import) + ": " + llvm::toString(text.takeError()));
  if (static_cast<int64_t>(text->size()) > left)
    return tooLarge();
  return std::move(*text);
}

void Loader::add(const SourceText& source, StringRef folder) {
  auto loaded = std::make_unique<LoadedFile>();
  loaded->file = parse(source, options.limits, diagnostics);
  program.push_back(std::move(loaded));
  folders.push_back(folder.str());
}

std::optional<size_t> Loader::load(const Import& import, size_t importer) {
  if (!findRoot())
    return fail(import, "RNN0130", "a text that is no file has no folder to import from",
                "name one with --root DIR");
  const std::string folder = folders[importer];
  std::optional<std::string> real = resolve(import, folder);
  if (!real)
    return std::nullopt;
  if (auto known = byPath.find(*real); known != byPath.end())
    return known->second;
  std::optional<std::string> text = read(import, *real);
  if (!text)
    return std::nullopt;
  SmallString<128> name(folder);
  path::append(name, import.path);
  path::remove_dots(name); // "./" alone: behind a link ".." is not what it seems
  byPath[*real] = program.size();
  add(diagnostics.addSource(name.str().str(), std::move(*text)), path::parent_path(name));
  return program.size() - 1;
}

Program Loader::run() {
  SmallString<128> real;
  if (isMainAFile() && !fs::real_path(diagnostics.file(), real))
    byPath[real] = 0;
  add(diagnostics.mainSource(), path::parent_path(diagnostics.file()));
  for (size_t i = 0; i < program.size(); ++i) // grows as imports are met
    for (size_t n = 0; n < program[i]->file.imports.size() && !diagnostics.full(); ++n) {
      std::optional<size_t> loaded = load(program[i]->file.imports[n], i);
      program[i]->imports.push_back(loaded);
      program[i]->scope.incomplete |= !loaded;
    }
  return std::move(program);
}

Program rnnc::loadProgram(const FrontendOptions& options, DiagnosticEngine& diagnostics) {
  return Loader(options, diagnostics).run();
}

std::vector<size_t> rnnc::importOrder(const Program& program, DiagnosticEngine& diagnostics) {
  enum State { New, Open, Done };
  std::vector<State> states(program.size(), New);
  std::vector<size_t> order;
  struct Visit {
    size_t file, next = 0;
  };
  std::vector<Visit> path{{0}};
  states[0] = Open;
  while (!path.empty()) {
    size_t at = path.back().file;
    const LoadedFile& file = *program[at];
    if (path.back().next == file.imports.size()) {
      states[at] = Done;
      order.push_back(at);
      path.pop_back();
      continue;
    }
    size_t which = path.back().next++;
    std::optional<size_t> target = file.imports[which];
    if (target && states[*target] == New) {
      states[*target] = Open;
      path.push_back({*target});
    } else if (target && states[*target] == Open) {
      const Import& import = file.file.imports[which];
      size_t length = path.end() - llvm::find_if(path, [&](const Visit& visit) {
                        return visit.file == *target;
                      });
      reportAt(diagnostics, import.span, "RNN0131",
               length == 1   ? "the file imports itself"
               : length == 2 ? "'" + import.path.str() + "' imports this file in its turn"
                             : "'" + import.path.str() + "' imports this file in its turn, over " +
                                   std::to_string(length - 2) + " others",
               "put what they share into a file of its own");
      return {};
    }
  }
  return order;
}

void rnnc::bringImports(const Program& program, LoadedFile& into, DiagnosticEngine& diagnostics) {
  for (auto [import, target] : llvm::zip(into.file.imports, into.imports)) {
    if (!target)
      continue;
    Scope& from = program[*target]->scope;
    into.scope.incomplete |= from.incomplete;
    std::vector<StringRef> names(from.functions.keys().begin(), from.functions.keys().end());
    llvm::sort(names);
    for (StringRef name : names) {
      const DeclaredFunction& brought = from.functions[name];
      auto [known, fresh] = into.scope.functions.try_emplace(name, brought);
      const Function& other = *known->second.function;
      known->second.used = false;
      if (fresh || &other == brought.function)
        continue;
      uint32_t offset = import.span.offset;
      reportAt(diagnostics, import.span, "RNN0118",
               "this import brings a second function '" + name.str() + "'",
               "they are on " + diagnostics.lineText(other.span.offset, offset) + " and " +
                   diagnostics.lineText(brought.function->span.offset, offset));
    }
  }
}
