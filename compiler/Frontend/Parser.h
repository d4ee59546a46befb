//===- Parser.h - tokens to the syntax tree ---------------------------------------------------===//
#pragma once

#include "Frontend/Ast.h"
#include "Frontend/Lexer.h"

namespace rnnc {

/// Parses a text of the engine's; errors are reported, and the rest of the file is still parsed.
ast::File parse(const SourceText& source, const Limits& limits, DiagnosticEngine& diagnostics);

/// Reports at a stretch of one of the engine's texts.
void reportAt(DiagnosticEngine& diagnostics, ast::Span span, const char* code, std::string text,
              std::string hint = "", Severity severity = Severity::Error);

} // namespace rnnc
