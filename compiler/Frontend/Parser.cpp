//===- Parser.cpp - declarations and equations
//--------------------------------------------------------===//

#include "Frontend/Parser.h"
#include "Frontend/ExpressionParser.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace rnnc;
using namespace rnnc::ast;
using llvm::StringRef;

void rnnc::reportAt(DiagnosticEngine& diagnostics, Span span, const char* code, std::string text,
                    std::string hint, Severity severity) {
  auto [line, column] = diagnostics.lineAndColumn(span.offset);
  diagnostics.report(
      {severity, code, std::move(text), std::move(hint), "", line, column, span.length});
}

namespace {

class Parser {
public:
  Parser(const std::vector<Token>& tokens, const Limits& limits, DiagnosticEngine& diagnostics)
      : cursor{tokens, diagnostics.source(), diagnostics}, limits(limits) {}
  File run();

private:
  bool cell();
  bool cellItem(Cell& cell);
  bool declaration(Declaration::Kind kind, std::vector<Declaration>& into, bool hidden);
  bool dims(std::vector<Declaration>& into);
  bool constant(std::vector<Declaration>& into);
  bool function(std::vector<Function>& into);
  bool functionBody(Function& function);
  bool shape(std::vector<Dim>& into);
  bool equation(std::vector<Equation>& into, bool mayHaveTime);
  bool expression(Expr& into);
  bool endOfLine();
  void recover();
  bool expectName(StringRef& name, Span& span, const char* what);
  bool expect(const char* sign, const char* where);
  bool unsupported(const char* what) {
    cursor.error(cursor.span(), "RNN0308", std::string("not supported yet: ") + what);
    return false;
  }
  void skipNewlines() {
    while (cursor.peek().kind == Token::Newline)
      ++cursor.at;
  }
  bool atEnd() const { return cursor.peek().kind == Token::End; }

  Cursor cursor;
  const Limits& limits;
  std::vector<Cell> cells;
};

/// Words that begin a declaration; none can name a value.
constexpr const char* kWords[] = {"cell",   "dim",    "input", "param",  "state", "hidden",
                                  "output", "const",  "fn",    "import", "save",  "recompute",
                                  "solve",  "return", "and",   "or",     "not",   "t"};

bool isWord(StringRef name) { return llvm::is_contained(kWords, name); }

} // namespace

/// Skips the rest of a line that made no sense, and a block that it opens.
void Parser::recover() {
  int64_t braces = 0;
  while (!atEnd()) {
    if (cursor.isSign("{"))
      ++braces;
    if (cursor.isSign("}") && --braces < 0)
      return;
    bool newline = cursor.peek().kind == Token::Newline;
    ++cursor.at;
    if (newline && braces <= 0)
      return;
  }
}

bool Parser::expect(const char* sign, const char* where) {
  if (cursor.accept(sign))
    return true;
  cursor.error(cursor.span(), "RNN0101",
               std::string("expected '") + sign + "' " + where + ", found " + cursor.found());
  return false;
}

bool Parser::expectName(StringRef& name, Span& span, const char* what) {
  span = cursor.span();
  if (cursor.peek().kind != Token::Name) {
    cursor.error(span, "RNN0101", std::string("expected ") + what + ", found " + cursor.found());
    return false;
  }
  name = cursor.text(cursor.peek());
  if (isWord(name)) {
    cursor.error(span, "RNN0104",
                 "'" + name.str() + "' is a word of the language and cannot name " +
                     std::string(what).substr(std::string(what).rfind(' ') + 1),
                 name == "t" ? "t is the time" : "");
    return false;
  }
  ++cursor.at;
  return true;
}

bool Parser::endOfLine() {
  if (cursor.peek().kind == Token::Newline)
    return ++cursor.at, true;
  if (cursor.isSign("}") || atEnd())
    return true;
  cursor.error(cursor.span(), "RNN0101", "expected the end of the line, found " + cursor.found(),
               cursor.isSign("=") ? "one equation a line" : "");
  return false;
}

bool Parser::expression(Expr& into) {
  std::optional<Expr> parsed = parseExpression(cursor, limits);
  if (parsed)
    into = std::move(*parsed);
  return parsed.has_value();
}

bool Parser::shape(std::vector<Dim>& into) {
  if (cursor.isName("complex"))
    return unsupported("complex states");
  if (!expect("[", "before the shape"))
    return false;
  while (!cursor.isSign("]")) {
    Dim dim{cursor.span(), {}, 0};
    const Token& token = cursor.peek();
    if (token.kind == Token::Number) {
      if (token.number != std::floor(token.number) || token.number < 1 || token.number > 1e9) {
        cursor.error(dim.span, "RNN0201", "a size is a whole number of at least 1");
        return false;
      }
      dim.size = static_cast<int64_t>(token.number);
      ++cursor.at;
    } else if (!expectName(dim.name, dim.span, "the name of a dim")) {
      return false;
    }
    into.push_back(dim);
    if (!cursor.isSign("]") && !expect(",", "between two dims"))
      return false;
  }
  ++cursor.at;
  if (into.size() > 4) {
    cursor.error(into[4].span, "RNN0202", "an array has at most 4 dims");
    return false;
  }
  return true;
}

bool Parser::dims(std::vector<Declaration>& into) {
  do {
    Declaration decl{Declaration::DimDecl, {}, {}, {}, false, {}};
    if (!expectName(decl.name, decl.span, "the name of a dim"))
      return false;
    if (cursor.accept("=") && !expression(decl.value.emplace()))
      return false;
    into.push_back(std::move(decl));
  } while (cursor.accept(","));
  return endOfLine();
}

bool Parser::constant(std::vector<Declaration>& into) {
  Declaration decl{Declaration::Const, {}, {}, {}, false, {}};
  if (!expectName(decl.name, decl.span, "the name of a const") || !expect("=", "after the name") ||
      !expression(decl.value.emplace()))
    return false;
  into.push_back(std::move(decl));
  return endOfLine();
}

bool Parser::declaration(Declaration::Kind kind, std::vector<Declaration>& into, bool hidden) {
  size_t first = into.size();
  do {
    Declaration decl{kind, {}, {}, {}, hidden, {}};
    if (!expectName(decl.name, decl.span, "a name"))
      return false;
    into.push_back(std::move(decl));
  } while (cursor.accept(","));
  std::vector<Dim> dims;
  if (!expect(":", "and a shape after the name") || !shape(dims))
    return false;
  for (size_t i = first; i < into.size(); ++i)
    into[i].shape = dims;
  if (cursor.isSign("=")) {
    Span sign = cursor.span();
    ++cursor.at;
    Expr value;
    if (kind == Declaration::Input) {
      cursor.error(sign, "RNN0303", "not supported yet: a value of an input before the start",
                   "leave it out: 0 is read there");
      return false;
    }
    if (kind != Declaration::State) {
      cursor.error(sign, "RNN0101", "only a state has a value before the first step");
      return false;
    }
    if (!expression(value))
      return false;
    for (size_t i = first; i < into.size(); ++i)
      into[i].value = value;
  }
  return endOfLine();
}

bool Parser::equation(std::vector<Equation>& into, bool mayHaveTime) {
  Equation eq{};
  if (!expectName(eq.name, eq.span, "a name"))
    return false;
  if (cursor.isSign("[")) {
    if (!mayHaveTime || !cursor.isName("t", 1) || !cursor.isSign("]", 2)) {
      cursor.error(cursor.span(), "RNN0106", "the left side is a name or name[t]",
                   cursor.isName("t", 1) ? "an equation defines the present step: write [t]" : "");
      return false;
    }
    cursor.at += 3;
    eq.atTime = true;
  }
  if (!expect("=", "in an equation") || !expression(eq.value))
    return false;
  into.push_back(std::move(eq));
  return endOfLine();
}

bool Parser::functionBody(Function& function) {
  while (true) {
    skipNewlines();
    if (cursor.isName("return")) {
      ++cursor.at;
      if (!expression(function.result))
        return false;
      skipNewlines();
      return expect("}", "after the returned value");
    }
    if (cursor.isSign("}") || atEnd()) {
      cursor.error(cursor.span(), "RNN0107", "the function returns nothing",
                   "end it with a line 'return value'");
      if (!atEnd())
        ++cursor.at;
      return false;
    }
    // Several equations may share a line in a function: u = a * b  return u + 1.
    Equation eq{};
    if (!expectName(eq.name, eq.span, "a name") || !expect("=", "in an equation") ||
        !expression(eq.value))
      return false;
    function.body.push_back(std::move(eq));
  }
}

bool Parser::function(std::vector<Function>& into) {
  Function fn{};
  if (!expectName(fn.name, fn.span, "the name of a function") || !expect("(", "after the name"))
    return false;
  while (!cursor.isSign(")")) {
    fn.params.emplace_back();
    if (!expectName(fn.params.back().first, fn.params.back().second, "the name of an argument") ||
        (!cursor.isSign(")") && !expect(",", "between two arguments")))
      return false;
  }
  ++cursor.at;
  bool fine = cursor.accept("{") ? functionBody(fn)
                                 : expect("=", "or '{' before the body") && expression(fn.result);
  if (!fine)
    return false;
  into.push_back(std::move(fn));
  return endOfLine();
}

bool Parser::cellItem(Cell& cell) {
  if (cursor.peek().kind != Token::Name) {
    cursor.error(cursor.span(), "RNN0101",
                 "expected a declaration or an equation, found " + cursor.found());
    return false;
  }
  StringRef word = cursor.text(cursor.peek());
  // A word of the language that is being assigned to is a name that cannot be one.
  bool assigned = cursor.isSign("=", 1) || cursor.isSign("[", 1);
  auto kind = llvm::StringSwitch<int>(word)
                  .Case("dim", Declaration::DimDecl)
                  .Case("input", Declaration::Input)
                  .Case("param", Declaration::Param)
                  .Case("state", Declaration::State)
                  .Case("output", Declaration::Output)
                  .Case("const", Declaration::Const)
                  .Default(-1);
  if (assigned)
    return equation(cell.equations, true);
  if (word == "save" || word == "recompute")
    return unsupported("hints to the memory planner");
  if (word == "solve")
    return unsupported("the solve block; use the command line's options");
  if (word == "import")
    return unsupported("imports");
  if (kind < 0 && word != "fn" && word != "hidden")
    return equation(cell.equations, true);
  ++cursor.at;
  if (word == "fn")
    return function(cell.functions);
  if (word == "hidden") {
    if (!cursor.isName("state")) {
      cursor.error(cursor.span(), "RNN0101", "expected 'state' after 'hidden'");
      return false;
    }
    ++cursor.at;
    return declaration(Declaration::State, cell.declarations, true);
  }
  if (kind == Declaration::DimDecl)
    return dims(cell.declarations);
  if (kind == Declaration::Const)
    return constant(cell.declarations);
  return declaration(static_cast<Declaration::Kind>(kind), cell.declarations, false);
}

bool Parser::cell() {
  Cell result{};
  if (!expectName(result.name, result.span, "the name of a cell"))
    return false;
  skipNewlines();
  Span brace = cursor.span();
  if (!expect("{", "after the cell's name"))
    return false;
  while (true) {
    skipNewlines();
    if (cursor.accept("}"))
      break;
    if (atEnd()) {
      cursor.error(brace, "RNN0102", "this cell is never closed", "end it with '}'");
      break;
    }
    if (!cellItem(result))
      recover();
  }
  cells.push_back(std::move(result));
  return true;
}

File Parser::run() {
  File file;
  while (true) {
    skipNewlines();
    if (atEnd())
      break;
    bool fine = false;
    if (cursor.isName("cell"))
      ++cursor.at, fine = cell();
    else if (cursor.isName("fn"))
      ++cursor.at, fine = function(file.functions);
    else if (cursor.isName("const"))
      ++cursor.at, fine = constant(file.constants);
    else if (cursor.isName("import"))
      unsupported("imports");
    else
      cursor.error(cursor.span(), "RNN0101",
                   "expected 'cell', 'fn' or 'const', found " + cursor.found());
    if (!fine) {
      recover();
      if (cursor.isSign("}"))
        ++cursor.at;
    }
  }
  file.cells = std::move(cells);
  return file;
}

File rnnc::parse(const Limits& limits, DiagnosticEngine& diagnostics) {
  std::vector<Token> tokens = lex(diagnostics);
  return Parser(tokens, limits, diagnostics).run();
}
