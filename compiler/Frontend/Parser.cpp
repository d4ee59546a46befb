//===- Parser.cpp - declarations and equations ------------------------------------------------===//

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
  diagnostics.report({severity, code, std::move(text), std::move(hint),
                      diagnostics.sourceAt(span.offset).file, line, column, span.length});
}

namespace {

class Parser {
public:
  Parser(const Tokens& tokens, const SourceText& source, const Limits& limits,
         DiagnosticEngine& diagnostics)
      : cursor{tokens.list, source, diagnostics}, truncated(tokens.truncated), limits(limits) {}
  File run();

private:
  bool cell();
  bool import(std::vector<Import>& into);
  bool hints(bool save, std::vector<Hint>& into);
  bool settings(std::vector<Setting>& into);
  bool cellItem(Cell& cell);
  void cellItems(Cell& cell);
  bool declaration(Declaration::Kind kind, std::vector<Declaration>& into, bool hidden);
  bool dims(std::vector<Declaration>& into);
  bool constant(std::vector<Declaration>& into);
  bool function(std::vector<Function>& into);
  bool functionBody(Function& function);
  bool functionHead(Function& function);
  void skipFunctionBody();
  bool shape(std::vector<Dim>& into);
  bool start(Declaration::Kind kind, Span sign, std::shared_ptr<const Expr>& value);
  bool equation(std::vector<Equation>& into);
  bool equationLeft(Equation& equation);
  bool expression(Expr& into);
  bool constantExpression(std::shared_ptr<const Expr>& into);
  bool endOfLine();
  void recover(size_t from, std::vector<StringRef>& lost, bool all);
  bool beginsItem() const;
  bool isDefined() const;
  bool expectName(StringRef& name, Span& span, const char* what);
  bool expect(const char* sign, const char* where);
  void skipNewlines() {
    while (cursor.peek().kind == Token::Newline)
      ++cursor.at;
  }
  bool atEnd() const { return cursor.peek().kind == Token::End; }

  Cursor cursor;
  bool truncated;
  const Limits& limits;
  std::vector<Cell> cells;
};

constexpr size_t kMaxRank = 4;
constexpr double kMaxSize = 1e9;
constexpr const char* kWords[] = {
    "cell", "dim",       "input", "param",  "state", "hidden", "output", "const", "fn", "import",
    "save", "recompute", "solve", "return", "and",   "or",     "not",    "t",     "pi", "inf"};

} // namespace

bool rnnc::isWord(StringRef name) {
  return name != "pi" && name != "inf" && llvm::is_contained(kWords, name);
}

/// The line begins as a declaration or an equation does. An open bracket takes the ends of lines
/// away, so that an error inside one would else lose the whole cell.
bool Parser::beginsItem() const {
  const Token& token = cursor.peek();
  if (!token.first || token.kind != Token::Name)
    return false;
  StringRef word = cursor.text(token);
  return isDefined() || (isWord(word) && !llvm::is_contained({"and", "or", "not", "t"}, word));
}

/// name = or name[t] =
bool Parser::isDefined() const {
  return cursor.peek().kind == Token::Name &&
         (cursor.isSign("=", 1) || (cursor.isSign("[", 1) && cursor.isSign("=", 4)));
}

/// Skips the rest of an item that made no sense, and a block that it opens. `from` is where it
/// began. Names on the way that may have been declared or defined there are lost; `all`: each may.
void Parser::recover(size_t from, std::vector<StringRef>& lost, bool all) {
  int64_t braces = 0;
  for (; !atEnd(); ++cursor.at) {
    if (cursor.isSign("{"))
      ++braces;
    if (cursor.isSign("}") && --braces < 0)
      return;
    if (braces <= 0 && cursor.peek().kind == Token::Newline) {
      ++cursor.at;
      return;
    }
    if (braces <= 0 && cursor.at != from && beginsItem())
      return;
    if (cursor.peek().kind == Token::Name && (all || isDefined()))
      lost.push_back(cursor.text(cursor.peek()));
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
  if (llvm::is_contained(kWords, name)) {
    cursor.error(span, "RNN0104",
                 "'" + name.str() + "' is a word of the language and cannot be " + what,
                 name == "t" ? "t is the time, as in x[t]" : "");
    return false;
  }
  ++cursor.at;
  return true;
}

bool Parser::endOfLine() {
  if (cursor.peek().kind == Token::Newline)
    return ++cursor.at, true;
  // A line break without a token is one that an unclosed bracket took away.
  if (cursor.isSign("}") || atEnd() || cursor.peek().first)
    return true;
  if (cursor.isSign(")") || cursor.isSign("]")) {
    cursor.error(cursor.span(), "RNN0102", "no bracket is open that this one could close");
    return false;
  }
  Token::Kind kind = cursor.peek().kind;
  bool value = kind == Token::Name || kind == Token::Number || cursor.isSign("(");
  cursor.error(cursor.span(), "RNN0101", "expected the end of the line, found " + cursor.found(),
               value ? "write '*' for a product; one equation or declaration a line" : "");
  return false;
}

bool Parser::expression(Expr& into) {
  std::optional<Expr> parsed = parseExpression(cursor, limits);
  if (parsed)
    into = std::move(*parsed);
  return parsed.has_value();
}

bool Parser::constantExpression(std::shared_ptr<const Expr>& into) {
  Expr value;
  if (!expression(value))
    return false;
  into = std::make_shared<const Expr>(std::move(value));
  return true;
}

bool Parser::shape(std::vector<Dim>& into) {
  Span bracket = cursor.span();
  if (!expect("[", "before the shape"))
    return false;
  while (!cursor.isSign("]")) {
    Dim dim{cursor.span(), {}, 0};
    const Token& token = cursor.peek();
    if (token.first) {
      cursor.error(bracket, "RNN0102", "this bracket is never closed");
      return false;
    }
    if (into.size() == kMaxRank) {
      cursor.error(dim.span, "RNN0202",
                   "an array has at most " + std::to_string(kMaxRank) + " dims");
      return false;
    }
    if (token.kind == Token::Number) {
      if (token.number != std::floor(token.number) || token.number < 1 || token.number > kMaxSize) {
        cursor.error(dim.span, "RNN0201", "a size is a whole number from 1 to 1000000000");
        return false;
      }
      dim.size = static_cast<int64_t>(token.number);
      ++cursor.at;
    } else if (!expectName(dim.name, dim.span, "the name of a dim")) {
      return false;
    }
    into.push_back(dim);
    if (!cursor.isSign("]") && !cursor.peek().first && !expect(",", "between two dims"))
      return false;
  }
  ++cursor.at;
  return true;
}

bool Parser::dims(std::vector<Declaration>& into) {
  do {
    Declaration decl{Declaration::DimDecl, {}, {}, {}, false, false, {}};
    if (!expectName(decl.name, decl.span, "the name of a dim"))
      return false;
    decl.broken = cursor.accept("=") && !constantExpression(decl.value);
    into.push_back(decl);
    if (decl.broken)
      return false;
  } while (cursor.accept(","));
  return endOfLine();
}

bool Parser::constant(std::vector<Declaration>& into) {
  Declaration decl{Declaration::Const, {}, {}, {}, false, false, {}};
  if (!expectName(decl.name, decl.span, "the name of a const"))
    return false;
  decl.broken = !expect("=", "after the name") || !constantExpression(decl.value);
  into.push_back(decl);
  return !decl.broken && endOfLine();
}

/// The value before the first step; the '=' was read.
bool Parser::start(Declaration::Kind kind, Span sign, std::shared_ptr<const Expr>& value) {
  if (kind == Declaration::State || kind == Declaration::Input)
    return constantExpression(value);
  cursor.error(sign, "RNN0101", "only a state or an input has a value before the first step");
  return false;
}

bool Parser::declaration(Declaration::Kind kind, std::vector<Declaration>& into, bool hidden) {
  size_t first = into.size();
  bool fine = true;
  do {
    Declaration decl{kind, {}, {}, {}, hidden, false, {}};
    fine = expectName(decl.name, decl.span, "a name");
    if (fine)
      into.push_back(std::move(decl));
  } while (fine && cursor.accept(","));
  std::vector<Dim> dims;
  std::shared_ptr<const Expr> value;
  fine = fine && expect(":", "and a shape after the name");
  bool complex = fine && cursor.isName("complex");
  cursor.at += complex;
  fine = fine && shape(dims);
  Span sign = cursor.span();
  if (fine && cursor.accept("="))
    fine = start(kind, sign, value);
  fine = fine && endOfLine();
  for (size_t i = first; i < into.size(); ++i) {
    into[i].shape = dims;
    into[i].complex = complex;
    into[i].value = value;
    into[i].broken = !fine;
  }
  return fine;
}

/// name or name[t]
bool Parser::equationLeft(Equation& eq) {
  if (!expectName(eq.name, eq.span, "the name of a value"))
    return false;
  if (!cursor.isSign("["))
    return true;
  eq.atTime = true;
  if (!cursor.isName("t", 1) || !cursor.isSign("]", 2)) {
    cursor.error(cursor.span(), "RNN0106", "the left side is a name or name[t]",
                 cursor.isName("t", 1) ? "an equation defines the present step: write [t]" : "");
    return false;
  }
  cursor.at += 3;
  return true;
}

bool Parser::equation(std::vector<Equation>& into) {
  Equation eq{};
  bool fine = equationLeft(eq) && expect("=", "in an equation") && expression(eq.value);
  fine = fine && endOfLine();
  eq.broken = !fine;
  if (!eq.name.empty())
    into.push_back(std::move(eq));
  return fine;
}

/// Up to the brace that closes the function, or a solve block, which is consumed.
void Parser::skipFunctionBody() {
  for (int64_t braces = 1; !atEnd(); ++cursor.at) {
    braces += cursor.isSign("{") ? 1 : cursor.isSign("}") ? -1 : 0;
    if (braces == 0) {
      ++cursor.at;
      return;
    }
    bool declaration = beginsItem() && !isDefined() && !cursor.isName("return");
    if (declaration) // there are none in a function: its brace is missing
      return;
  }
}

/// Several lines; the '{' was read. The '}' is consumed whatever happens.
bool Parser::functionBody(Function& function) {
  while (true) {
    skipNewlines();
    if (cursor.isName("return")) {
      ++cursor.at;
      bool fine = expression(function.result);
      skipNewlines();
      if (fine && !cursor.isSign("}") && cursor.peek().first) { // what follows is no part of it
        cursor.error(function.span, "RNN0102", "this function is never closed", "end it with '}'");
        return false;
      }
      fine = fine && expect("}", "after the returned value");
      if (!fine)
        skipFunctionBody();
      return fine;
    }
    if (atEnd()) {
      if (!truncated)
        cursor.error(function.span, "RNN0102", "this function is never closed", "end it with '}'");
      return false;
    }
    if (cursor.isSign("}")) {
      cursor.error(cursor.span(), "RNN0107", "the function returns nothing",
                   "end it with a line 'return value'");
      skipFunctionBody();
      return false;
    }
    // Several equations may share a line in a function: u = a * b  return u + 1.
    Equation eq{};
    if (!expectName(eq.name, eq.span, "the name of a value") || !expect("=", "in an equation") ||
        !expression(eq.value)) {
      skipFunctionBody();
      return false;
    }
    function.body.push_back(std::move(eq));
  }
}

/// name(a, b)
bool Parser::functionHead(Function& fn) {
  if (!expectName(fn.name, fn.span, "the name of a function") || !expect("(", "after the name"))
    return false;
  while (!cursor.isSign(")")) {
    fn.params.emplace_back();
    if (!expectName(fn.params.back().first, fn.params.back().second, "the name of an argument") ||
        (!cursor.isSign(")") && !expect(",", "between two arguments")))
      return false;
  }
  ++cursor.at;
  return true;
}

bool Parser::function(std::vector<Function>& into) {
  Function fn{};
  bool fine = functionHead(fn);
  bool block = fine && cursor.accept("{");
  if (block)
    fine = functionBody(fn);
  else
    fine = fine && expect("=", "or '{' before the body") && expression(fn.result);
  fn.broken = !fine;
  if (!fn.name.empty())
    into.push_back(std::move(fn));
  return block || fine ? endOfLine() : false; // a block was skipped to its end
}

/// save z, r: the word was read.
bool Parser::hints(bool save, std::vector<Hint>& into) {
  do {
    Hint hint{{}, {}, save};
    if (!expectName(hint.name, hint.span, "the name of a value"))
      return false;
    into.push_back(hint);
  } while (cursor.accept(","));
  return endOfLine();
}

/// solve { name = value ... }: the word was read. Settings may share a line.
bool Parser::settings(std::vector<Setting>& into) {
  Span word{cursor.tokens[cursor.at - 1].offset, cursor.tokens[cursor.at - 1].length};
  if (!expect("{", "after 'solve'"))
    return false;
  while (true) {
    skipNewlines();
    if (cursor.accept("}"))
      return endOfLine();
    if (atEnd() || (cursor.peek().first && !cursor.isSign("=", 1))) {
      if (!truncated)
        cursor.error(word, "RNN0102", "this solve block is never closed", "end it with '}'");
      return false;
    }
    Setting setting{};
    if (!expectName(setting.name, setting.span, "the name of a setting") ||
        !expect("=", "after the name") || !expression(setting.value)) {
      skipFunctionBody();
      return endOfLine();
    }
    into.push_back(std::move(setting));
    cursor.accept(",");
  }
}

/// import "common.rnn": the word was read.
bool Parser::import(std::vector<Import>& into) {
  if (cursor.peek().kind != Token::String) {
    cursor.error(cursor.span(), "RNN0101",
                 "expected the name of a file in quotes, found " + cursor.found(),
                 "import \"common.rnn\"");
    return false;
  }
  into.push_back({cursor.span(), cursor.text(cursor.peek()).drop_front().drop_back()});
  ++cursor.at;
  return endOfLine();
}

bool Parser::cellItem(Cell& cell) {
  if (cursor.peek().kind != Token::Name) {
    cursor.error(cursor.span(), "RNN0101",
                 "expected a declaration or an equation, found " + cursor.found());
    return false;
  }
  StringRef word = cursor.text(cursor.peek());
  auto kind = llvm::StringSwitch<int>(word)
                  .Case("dim", Declaration::DimDecl)
                  .Case("input", Declaration::Input)
                  .Case("param", Declaration::Param)
                  .Case("state", Declaration::State)
                  .Case("output", Declaration::Output)
                  .Case("const", Declaration::Const)
                  .Default(-1);
  // A word of the language that is assigned to is a name that cannot be one.
  if (cursor.isSign("=", 1) || cursor.isSign("[", 1))
    return equation(cell.equations);
  if (word == "import") {
    cursor.error(cursor.span(), "RNN0101", "an import stands outside of cells",
                 "move it to the top of the file");
    return false;
  }
  bool hint = word == "save" || word == "recompute", solve = word == "solve";
  if (kind < 0 && word != "fn" && word != "hidden" && !hint && !solve)
    return equation(cell.equations);
  ++cursor.at;
  if (hint)
    return hints(word == "save", cell.hints);
  if (solve)
    return settings(cell.settings);
  if (word == "fn")
    return function(cell.functions);
  if (word == "hidden") {
    if (!cursor.isName("state")) {
      cursor.error(cursor.span(), "RNN0101", "expected 'state' after 'hidden'",
                   "only a state can be hidden");
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

/// Up to the cell's '}', which is consumed; or to a line that begins another cell.
void Parser::cellItems(Cell& cell) {
  Span brace{cursor.tokens[cursor.at - 1].offset, 1};
  bool told = truncated; // why the text ends here
  while (true) {
    skipNewlines();
    if (cursor.accept("}"))
      return;
    bool next = cursor.isName("cell") && cursor.peek().first && !cursor.isSign("=", 1);
    if (atEnd() || next) {
      if (!told)
        cursor.error(brace, "RNN0102", "this cell is never closed", "end it with '}'");
      cell.unclosed = true;
      return;
    }
    size_t from = cursor.at, equations = cell.equations.size();
    if (!cellItem(cell)) {
      size_t ahead = 0;
      while (cursor.peek(ahead).kind == Token::Newline)
        ++ahead;
      told |= cursor.peek(ahead).kind == Token::End;
      recover(from, cell.lost, equations == cell.equations.size());
    }
  }
}

bool Parser::cell() {
  Cell result{};
  if (!expectName(result.name, result.span, "the name of a cell"))
    return false;
  skipNewlines();
  if (!expect("{", "after the cell's name"))
    return false;
  cellItems(result);
  cells.push_back(std::move(result));
  return true;
}

File Parser::run() {
  File file;
  while (true) {
    skipNewlines();
    if (atEnd() || cursor.diagnostics.full())
      break;
    size_t from = cursor.at;
    bool fine = false;
    if (cursor.isName("cell"))
      ++cursor.at, fine = cell();
    else if (cursor.isName("fn"))
      ++cursor.at, fine = function(file.functions);
    else if (cursor.isName("const"))
      ++cursor.at, fine = constant(file.constants);
    else if (cursor.isName("import"))
      ++cursor.at, fine = import(file.imports);
    else
      cursor.error(cursor.span(), "RNN0101",
                   "expected 'cell', 'fn', 'const' or 'import', found " + cursor.found());
    if (!fine) {
      recover(from, file.lost, true);
      while (cursor.accept("}")) { // a run of them is one mistake
      }
    }
  }
  file.cells = std::move(cells);
  return file;
}

File rnnc::parse(const SourceText& source, const Limits& limits, DiagnosticEngine& diagnostics) {
  Tokens tokens = lex(source, diagnostics);
  return Parser(tokens, source, limits, diagnostics).run();
}
