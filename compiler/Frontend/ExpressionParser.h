//===- ExpressionParser.h - expressions to postfix code ---------------------------------------===//
#pragma once

#include "Frontend/Ast.h"
#include "Frontend/Lexer.h"

#include <optional>

namespace rnnc {

/// A place in the tokens, with the little grammar that everything shares.
struct Cursor {
  const std::vector<Token>& tokens;
  const SourceText& source;
  DiagnosticEngine& diagnostics;
  size_t at = 0;

  const Token& peek(size_t ahead = 0) const {
    return tokens[std::min(at + ahead, tokens.size() - 1)];
  }
  llvm::StringRef text(const Token& token) const {
    return llvm::StringRef(source.text).substr(token.offset - source.base, token.length);
  }
  bool isSign(llvm::StringRef sign, size_t ahead = 0) const {
    return peek(ahead).kind == Token::Sign && text(peek(ahead)) == sign;
  }
  bool isName(llvm::StringRef name, size_t ahead = 0) const {
    return peek(ahead).kind == Token::Name && text(peek(ahead)) == name;
  }
  bool accept(llvm::StringRef sign) {
    if (!isSign(sign))
      return false;
    ++at;
    return true;
  }
  ast::Span span() const { return {peek().offset, std::max(peek().length, 1u)}; }
  /// What stands here, for messages: "'+'", "the end of the line".
  std::string found() const;
  /// Silent where the text was reported as no token already.
  void error(ast::Span where, const char* code, std::string text, std::string hint = "");
};

/// Words of the language; none can name a value.
bool isWord(llvm::StringRef name);

/// Parses one expression; nothing after an error was reported (the cursor stands at the trouble).
std::optional<ast::Expr> parseExpression(Cursor& cursor, const Limits& limits);

} // namespace rnnc
