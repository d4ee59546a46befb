// What the log of NVRTC and a text in PTX say.
#pragma once

#include <cctype>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace rnnc::test {

/// Every number that stands in front of `what`, as in "0 bytes stack frame".
inline std::vector<int> numbersBefore(std::string_view log, std::string_view what) {
  std::vector<int> found;
  for (size_t at = log.find(what); at != log.npos; at = log.find(what, at + 1)) {
    size_t begin = at;
    while (begin > 0 && std::isdigit(static_cast<unsigned char>(log[begin - 1]))) {
      --begin;
    }
    if (begin < at) {
      found.push_back(std::stoi(std::string(log.substr(begin, at - begin))));
    }
  }
  return found;
}

/// The first of them; -1: there is none.
inline int numberBefore(std::string_view log, std::string_view what) {
  const std::vector<int> found = numbersBefore(log, what);
  return found.empty() ? -1 : found.front();
}

/// Whether a line of PTX is an instruction: `\tname ...;`, with a predicate or not.
inline bool isInstruction(std::string_view line) {
  return line.size() > 1 && line[0] == '\t' &&
         (std::islower(static_cast<unsigned char>(line[1])) || line[1] == '@') &&
         line.back() == ';';
}

inline int countInstructions(const std::string& ptx) {
  int count = 0;
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    count += isInstruction(line);
  }
  return count;
}

} // namespace rnnc::test
