//===- Order.cpp - which equation needs which -------------------------------------------------===//

#include "Frontend/Order.h"

using namespace rnnc;
using namespace rnnc::ast;

EquationOrder::EquationOrder(const Cell& cell) : cell(cell) {
  for (size_t i = 0; i < cell.equations.size(); ++i)
    byName.try_emplace(cell.equations[i].name, i);
  for (const Declaration& decl : cell.declarations)
    if (decl.kind == Declaration::State)
      states.insert(decl.name);
}

std::optional<size_t> EquationOrder::equationOf(llvm::StringRef name) const {
  auto it = byName.find(name);
  if (it == byName.end())
    return std::nullopt;
  return it->second;
}

bool EquationOrder::needs(size_t from, size_t to) const { return reaches(from, to, true); }

bool EquationOrder::needsWithoutStates(size_t from, size_t to) const {
  return reaches(from, to, false);
}

bool EquationOrder::reaches(size_t from, size_t to, bool throughStates) const {
  std::vector<bool> seen(cell.equations.size());
  std::vector<size_t> todo{from};
  while (!todo.empty()) {
    size_t at = todo.back();
    todo.pop_back();
    for (const Node& node : cell.equations[at].value) {
      bool read = node.op == Node::Name || (node.op == Node::At && node.back == 0);
      auto needed = read ? equationOf(node.text) : std::nullopt;
      if (!needed || (!throughStates && states.contains(node.text)))
        continue;
      if (*needed == to)
        return true;
      if (!seen[*needed]) {
        seen[*needed] = true;
        todo.push_back(*needed);
      }
    }
  }
  return false;
}
