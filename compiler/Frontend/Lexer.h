//===- Lexer.h - text to tokens ---------------------------------------------------------------===//
#pragma once

#include "rnnc/Frontend.h"

#include <vector>

namespace rnnc {

struct Token {
  /// Bad: text that was reported already, so that nothing more is said of it.
  enum Kind : uint8_t { Name, Number, String, Sign, Bad, Newline, End } kind;
  bool first;              // on its line
  uint32_t offset, length; // the offset counts through all texts of the engine
  double number = 0;       // of a Number
};

struct Tokens {
  std::vector<Token> list;
  /// A comment without an end took the rest of the text: what is missing there is no news.
  bool truncated = false;
};

/// Signs are one or two characters. A Newline appears where one ends an equation: not inside
/// parentheses or square brackets, and not after an operator. The last token is End.
Tokens lex(const SourceText& source, DiagnosticEngine& diagnostics);

} // namespace rnnc
