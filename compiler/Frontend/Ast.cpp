//===- Ast.cpp - the syntax tree as text ------------------------------------------------------===//

#include "Frontend/Ast.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace rnnc::ast;

static unsigned arity(const Node& node) {
  switch (node.op) {
  case Node::Number:
  case Node::Name:
  case Node::At:
    return 0;
  case Node::Neg:
  case Node::Not:
  case Node::Transpose:
    return 1;
  case Node::Call:
    return node.arguments;
  case Node::Index:
    return 1 + node.arguments;
  default:
    return 2;
  }
}

/// `index [_:_, _, :]`, with _ for a bound that is given.
static void dumpIndex(const Node& node, llvm::raw_ostream& out) {
  out << "index [";
  for (unsigned i = 0; i < node.items; ++i) {
    bool isSlice = node.slices >> i & 1;
    out << (i ? ", " : "") << (!isSlice || (node.from >> i & 1) ? "_" : "") << (isSlice ? ":" : "")
        << (node.to >> i & 1 ? "_" : "");
  }
  out << "]";
}

static void dumpNode(const Node& node, llvm::raw_ostream& out) {
  switch (node.op) {
  case Node::Number:
    out << llvm::format("%.17g", node.number);
    break;
  case Node::At:
    out << node.text << "[t" << (node.back ? "-" + std::to_string(node.back) : "") << "]";
    break;
  case Node::Neg:
    out << "neg";
    break;
  case Node::Index:
    dumpIndex(node, out);
    break;
  case Node::Transpose:
    out << "transpose";
    break;
  case Node::Call:
    out << "call " << node.text << (node.axis.empty() ? "" : " axis=") << node.axis;
    break;
  default:
    out << node.text;
  }
  out << "\n";
}

static void dumpExpr(const Expr& expr, unsigned indent, llvm::raw_ostream& out) {
  std::vector<size_t> size(expr.size(), 1); // of each subexpression
  for (size_t i = 0; i < expr.size(); ++i) {
    size_t child = i;
    for (unsigned n = arity(expr[i]); n > 0; --n) {
      size[i] += size[child - 1];
      child -= size[child - 1];
    }
  }
  std::vector<std::pair<size_t, unsigned>> todo;
  if (!expr.empty())
    todo.push_back({expr.size() - 1, indent});
  while (!todo.empty()) {
    auto [i, depth] = todo.back();
    todo.pop_back();
    out.indent(std::min(depth, 100u));
    dumpNode(expr[i], out);
    size_t child = i;
    for (unsigned n = arity(expr[i]); n > 0; --n) {
      todo.push_back({child - 1, depth + 2});
      child -= size[child - 1];
    }
  }
}

/// `last` is the value before: states of one line share theirs, and it may be long.
static void dumpDeclaration(const Declaration& decl, std::shared_ptr<const Expr>& last,
                            llvm::raw_ostream& out) {
  static const char* const kinds[] = {"dim", "input", "param", "state", "output", "const"};
  out << "  " << (decl.hidden ? "hidden " : "") << kinds[decl.kind] << " " << decl.name;
  if (decl.kind != Declaration::DimDecl && decl.kind != Declaration::Const) {
    out << (decl.complex ? " : complex [" : " : [");
    for (size_t i = 0; i < decl.shape.size(); ++i)
      out << (i ? ", " : "")
          << (decl.shape[i].name.empty() ? std::to_string(decl.shape[i].size)
                                         : decl.shape[i].name.str());
    out << "]";
  }
  out << "\n";
  if (decl.value && decl.value != last)
    dumpExpr(*decl.value, 4, out);
  else if (decl.value)
    out << "    as the one above\n";
  last = decl.value;
}

static void dumpFunction(const Function& function, llvm::raw_ostream& out) {
  out << "  fn " << function.name << "(";
  for (size_t i = 0; i < function.params.size(); ++i)
    out << (i ? ", " : "") << function.params[i].first;
  out << ")\n";
  for (const Equation& line : function.body) {
    out << "    " << line.name << "\n";
    dumpExpr(line.value, 6, out);
  }
  out << "    return\n";
  dumpExpr(function.result, 6, out);
}

std::string rnnc::ast::dump(const File& file) {
  std::string text;
  llvm::raw_string_ostream out(text);
  std::shared_ptr<const Expr> last;
  for (const Import& import : file.imports)
    out << "  import \"" << import.path << "\"\n";
  for (const Declaration& constant : file.constants)
    dumpDeclaration(constant, last, out);
  for (const Function& function : file.functions)
    dumpFunction(function, out);
  for (const Cell& cell : file.cells) {
    out << "cell " << cell.name << "\n";
    for (const Declaration& decl : cell.declarations)
      dumpDeclaration(decl, last, out);
    for (const Function& function : cell.functions)
      dumpFunction(function, out);
    for (const Equation& equation : cell.equations) {
      out << "  equation " << equation.name << (equation.atTime ? "[t]" : "") << "\n";
      dumpExpr(equation.value, 4, out);
    }
    for (const Hint& hint : cell.hints)
      out << "  " << (hint.save ? "save " : "recompute ") << hint.name << "\n";
    for (const Setting& setting : cell.settings) {
      out << "  solve " << setting.name << "\n";
      dumpExpr(setting.value, 4, out);
    }
  }
  return text;
}
