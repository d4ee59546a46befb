//===- Ast.h - the syntax tree ----------------------------------------------------------------===//
//
// Expressions are code in postfix order, one flat vector each: built, walked and destroyed without
// recursion, however deep the text nests.
//
//===----------------------------------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rnnc::ast {

/// A stretch of the source, for messages.
struct Span {
  uint32_t offset = 0, length = 1;
};

struct Node {
  enum Op : uint8_t {
    Number,
    Name,
    At,
    Neg,
    Not,
    Binary,
    Compare,
    And,
    Or,
    Call,
    Index,
    Transpose
  } op;
  Span span;            // of the operator or the name
  llvm::StringRef text; // name, or the sign: "+", "<="
  double number = 0;
  int64_t back = 0;          // of At: x[t - back]
  uint32_t arguments = 0;    // of a Call; of an Index, its bounds
  llvm::StringRef axis = {}; // of a Call with axis = name
  uint32_t begin = 0;        // where the source text of the whole subexpression starts and ends
  uint32_t end = 0;
  /// Of an Index, a[0, 2:k]: how many items, and by bits which are slices, with a bound on the left
  /// and on the right. Behind the array its bounds are operands, in order.
  uint8_t items = 0, slices = 0, from = 0, to = 0;

  static constexpr unsigned kMaxItems = 8;
};

using Expr = std::vector<Node>;

/// A size: a name or a number.
struct Dim {
  Span span;
  llvm::StringRef name; // empty: a literal
  int64_t size = 0;
};

struct Declaration {
  enum Kind : uint8_t { DimDecl, Input, Param, State, Output, Const } kind;
  Span span; // of the name
  llvm::StringRef name;
  std::vector<Dim> shape;
  bool hidden = false;
  bool broken = false; // reported already; its uses are silent
  std::shared_ptr<const Expr>
      value; // of a dim, a const; of states and inputs, shared by those of one line
  bool complex = false;
};

struct Equation {
  Span span;
  llvm::StringRef name;
  bool atTime = false; // name[t] = ...
  bool broken = false;
  Expr value;
};

struct Function {
  Span span;
  llvm::StringRef name;
  std::vector<std::pair<llvm::StringRef, Span>> params;
  std::vector<Equation> body; // all but the last line
  bool broken = false;
  Expr result;
};

/// A name of a line `save z, r` or `recompute n`.
struct Hint {
  Span span;
  llvm::StringRef name;
  bool save = false; // else recompute
};

/// A line of solve { }.
struct Setting {
  Span span;
  llvm::StringRef name;
  Expr value;
};

/// import "common.rnn"
struct Import {
  Span span; // of the text in quotes
  llvm::StringRef path;
};

struct Cell {
  Span span;
  llvm::StringRef name;
  std::vector<Declaration> declarations;
  std::vector<Function> functions;
  std::vector<Equation> equations;
  std::vector<Hint> hints;
  std::vector<Setting> settings;
  std::vector<llvm::StringRef> lost; // names on lines that made no sense: perhaps declared there
  bool unclosed = false;             // the text ends, or another cell begins, before its end
};

struct File {
  std::vector<Import> imports;
  std::vector<Cell> cells;
  std::vector<Function> functions;
  std::vector<Declaration> constants;
  std::vector<llvm::StringRef> lost; // as in a cell
};

/// Indented text, a node a line.
std::string dump(const File& file);

} // namespace rnnc::ast
