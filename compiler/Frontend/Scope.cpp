//===- Scope.cpp - the names of a file and of its cells ---------------------------------------===//

#include "Frontend/Scope.h"

#include <algorithm>

using namespace rnnc;
using llvm::StringRef;

Declared* Scope::find(StringRef name) {
  for (Scope* scope = this; scope; scope = scope->outer)
    if (auto it = scope->declared.find(name); it != scope->declared.end())
      return &it->second;
  return nullptr;
}

DeclaredFunction* Scope::findFunction(StringRef name) {
  for (Scope* scope = this; scope; scope = scope->outer)
    if (auto it = scope->functions.find(name); it != scope->functions.end())
      return &it->second;
  return nullptr;
}

bool Scope::isLost(StringRef name) const {
  return lost.contains(name) || (outer && outer->isLost(name));
}

bool Scope::isAnnounced(StringRef name) const {
  return announced.contains(name) || (outer && outer->isAnnounced(name));
}

std::vector<std::string> Scope::names(llvm::function_ref<bool(const Declared&)> wanted) const {
  std::vector<std::string> found;
  for (const Scope* scope = this; scope; scope = scope->outer)
    for (const auto& entry : scope->declared)
      if (wanted(entry.second))
        found.push_back(entry.first().str());
  std::sort(found.begin(), found.end());
  return found;
}

std::string rnnc::didYouMean(StringRef name, const std::vector<std::string>& candidates) {
  auto near = nearest(name, candidates);
  return near ? "did you mean '" + *near + "'?" : "";
}
