//===- constructs_test.cpp - that generated programs have all of the language -----------------===//

#include "generate.h"

#include "Frontend/Builtins.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <sstream>

using namespace rnnc;
using namespace rnnc::generated;

namespace {

constexpr uint64_t kPrograms = 1000; // as many as tools/test runs

/// With the text of all files.
struct Made {
  Program program;
  std::string text;
};

const std::vector<Made>& programs() {
  static const std::vector<Made> all = [] {
    std::vector<Made> made;
    for (uint64_t i = 0; i < kPrograms; ++i) {
      Program program = generate(/*seed=*/1, i);
      std::string text = printAll(program);
      made.push_back({std::move(program), std::move(text)});
    }
    return made;
  }();
  return all;
}

template <typename Has>
int64_t countIf(const Has& has) {
  return std::count_if(programs().begin(), programs().end(), has);
}

/// Whether the text calls the function: the name ends there, and begins there too.
bool calls(const std::string& text, const std::string& name) {
  for (size_t at = text.find(name + "("); at != std::string::npos;
       at = text.find(name + "(", at + 1))
    if (at == 0 || !(std::isalnum(static_cast<unsigned char>(text[at - 1])) || text[at - 1] == '_'))
      return true;
  return false;
}

/// Whether a line begins like this and has all of these parts.
bool hasLine(const std::string& text, const std::string& begin,
             const std::vector<std::string>& parts) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(begin) &&
        std::all_of(parts.begin(), parts.end(),
                    [&](const std::string& part) { return line.find(part) != std::string::npos; }))
      return true;
  return false;
}

TEST(Constructs, EveryBuiltinIsCalled) {
  for (const std::string& name : builtinNames())
    EXPECT_GE(countIf([&](const Made& made) { return calls(made.text, name); }), 5) << name;
}

TEST(Constructs, EveryDeclarationIsThere) {
  struct Form {
    const char* begin;
    std::vector<std::string> parts;
    int64_t least;
  };
  const Form forms[] = {
      {"import \"lib/one.rnn\"", {}, 20},
      {"import \"lib/deep/two.rnn\"", {}, 10},
      {"import \"deep/two.rnn\"", {}, 5},
      {"const c1 = ", {}, 20},
      {"  const q1 = ", {}, 100},
      {"fn f", {") {"}, 20},
      {"fn f", {") = "}, 40},
      {"  input ", {": complex"}, 40},
      {"  input ", {": [", "] = "}, 100},
      {"  param ", {": complex"}, 40},
      {"  output ", {": complex"}, 20},
      {"  output ", {": ["}, 100},
      {"  state ", {": complex"}, 40},
      {"  state ", {": complex", " = h"}, 5},
      {"  state ", {": [", "] = h"}, 40},
      {"  hidden state ", {}, 20},
      {"  save ", {}, 40},
      {"  solve { chunk = ", {}, 40},
  };
  for (const Form& form : forms)
    EXPECT_GE(countIf([&](const Made& made) { return hasLine(made.text, form.begin, form.parts); }),
              form.least)
        << form.begin << (form.parts.empty() ? "" : form.parts.front());
}

TEST(Constructs, EveryOperatorIsThere) {
  const std::pair<const char*, int64_t> forms[] = {
      {" + ", 400},       {" - ", 400},    {" * ", 400},    {" / ", 100},      {" / complex(", 10},
      {" ^ ", 100},       {" @ ", 100},    {"-", 400},      {" < ", 40},       {" <= ", 20},
      {" > ", 40},        {" >= ", 20},    {" != ", 10},    {" and ", 10},     {" or ", 10},
      {"not ", 10},       {".T", 40},      {"[0:", 40},     {"axis = k)", 20}, {"axis = m)", 20},
      {"axis = -2)", 40}, {"s1[t-2]", 40}, {"s1[t-3]", 10}, {"x1[t-", 50},
  };
  for (const auto& [form, least] : forms)
    EXPECT_GE(countIf([&](const Made& made) { return made.text.find(form) != std::string::npos; }),
              least)
        << form;
}

TEST(Constructs, FunctionsCallFunctions) {
  EXPECT_GE(countIf([](const Made& made) {
              bool found = false;
              Program program = made.program;
              program.equations.clear();
              changeEverywhere(program, [&](const ExprPtr& body) {
                walk(body, [&](const Expr& node) {
                  for (const Function& other : made.program.functions)
                    found |= node.op == Op::Call && node.text == other.name;
                });
                return body;
              });
              return found;
            }),
            10);
}

/// Implicit steps, of real and of complex states.
TEST(Constructs, StatesAreSolvedFor) {
  for (bool isComplex : {false, true})
    EXPECT_GE(countIf([&](const Made& made) {
                return std::any_of(made.program.equations.begin(), made.program.equations.end(),
                                   [&](const Equation& equation) {
                                     return isImplicit(equation) &&
                                            equation.value->complex == isComplex;
                                   });
              }),
              isComplex ? 5 : 40);
}

/// Where two axes of size 1 meet.
TEST(Constructs, AxesOfSizeOneMeet) {
  EXPECT_GE(countIf([](const Made& made) {
              return std::count_if(made.program.dims.begin(), made.program.dims.end(),
                                   [](const Dim& d) { return d.fixed && d.size == 1; }) >= 2 &&
                     made.text.find("dim one") != std::string::npos;
            }),
            10);
}

/// A file's consts are its own: one name stands for different numbers in two files.
TEST(Constructs, ConstsOfTwoFilesHaveOneName) {
  EXPECT_GE(countIf([](const Made& made) {
              std::string main = print(made.program);
              for (const auto& [name, text] : importedFiles(made.program))
                if (hasLine(main, "const c1 = ", {}) && hasLine(text, "const c1 = ", {}))
                  return true;
              return false;
            }),
            2);
}

TEST(Constructs, ANumberNamesAProgramForEver) {
  for (uint64_t index : {0u, 77u, 999u})
    EXPECT_EQ(printAll(generate(1, index)), programs()[index].text) << index;
}

} // namespace
