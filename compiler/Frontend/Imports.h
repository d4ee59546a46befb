//===- Imports.h - a file with everything that it imports -------------------------------------===//
#pragma once

#include "Frontend/Scope.h"

#include <memory>

namespace rnnc {

/// A file of the program. `imports[i]` is the place in the program of what the file's i-th import
/// names; nothing where it could not be read.
struct LoadedFile {
  ast::File file;
  Scope scope;
  std::vector<std::optional<size_t>> imports;
};

/// The main file first, each file once, however many import it.
using Program = std::vector<std::unique_ptr<LoadedFile>>;

/// Parses the engine's source and what it imports, and so on. Everything that cannot be read is
/// reported where it is imported. No file outside of the root folder is opened (FrontendOptions).
Program loadProgram(const FrontendOptions& options, DiagnosticEngine& diagnostics);

/// The files, each after those that it imports; nothing after a message about a circle.
std::vector<size_t> importOrder(const Program& program, DiagnosticEngine& diagnostics);

/// Gives a file the functions that its imports define and import in their turn. Two functions of
/// one name are reported, with both places.
void bringImports(const Program& program, LoadedFile& into, DiagnosticEngine& diagnostics);

} // namespace rnnc
