//===- print.cpp - a program as the files of its text
//-------------------------------------------===//

#include "program.h"

#include <algorithm>

using namespace rnnc::generated;

static std::string shapeText(const Shape& shape) {
  std::string text = "[";
  for (const std::string& dim : shape)
    text += (text.size() > 1 ? ", " : "") + dim;
  return text + "]";
}

static std::string declare(const std::string& word, const Decl& decl, bool fill) {
  return "  " + word + " " + decl.name + " : " + (decl.complex ? "complex " : "") +
         shapeText(decl.shape) +
         (!decl.start.empty() ? " = " + decl.start
          : fill              ? " = " + print(*makeNumber(decl.fill))
                              : "") +
         "\n";
}

static std::string print(const Function& function) {
  std::string text = "fn " + function.name + "(";
  for (size_t i = 0; i < function.params.size(); ++i)
    text += (i ? ", " : "") + function.params[i];
  if (function.lines.empty())
    return text + ") = " + print(*function.result) + "\n";
  text += ") {\n";
  for (const auto& [name, value] : function.lines)
    text += "  " + name + " = " + print(*value) + "\n";
  return text + "  return " + print(*function.result) + "\n}\n";
}

/// The files that a program's functions may stand in, by Function::file.
static const char* const kFiles[] = {"", "lib/one.rnn", "lib/deep/two.rnn"};

static bool has(const Program& program, int file) {
  return std::any_of(program.functions.begin(), program.functions.end(),
                     [&](const Function& f) { return f.file == file; });
}

/// `const` lines for what these expressions read.
static std::string declareConsts(const std::vector<ExprPtr>& expressions, const char* indent) {
  std::map<std::string, double> consts;
  for (const ExprPtr& expr : expressions)
    walk(expr, [&](const Expr& node) {
      if (node.op == Op::Const)
        consts[node.text] = node.number;
    });
  std::string text;
  for (const auto& [name, value] : consts)
    text += indent + ("const " + name) + " = " + print(*makeNumber(value)) + "\n";
  return text;
}

/// The functions of one file with the consts that they see.
static std::string functionsOf(const Program& program, int file) {
  std::vector<ExprPtr> bodies;
  std::string text;
  for (const Function& function : program.functions) {
    if (function.file != file)
      continue;
    for (const auto& line : function.lines)
      bodies.push_back(line.second);
    bodies.push_back(function.result);
    text += ::print(function);
  }
  return declareConsts(bodies, "") + text;
}

std::map<std::string, std::string> rnnc::generated::importedFiles(const Program& program) {
  std::map<std::string, std::string> files;
  for (int file : {1, 2})
    if (has(program, file))
      files[kFiles[file]] = functionsOf(program, file);
  if (has(program, 1) && has(program, 2)) // relative to where it stands
    files[kFiles[1]].insert(0, "import \"deep/two.rnn\"\n");
  return files;
}

std::string rnnc::generated::print(const Program& program) {
  std::string text;
  for (int file : {1, 2})
    if (has(program, file) && !(file == 2 && has(program, 1))) // the first one brings it
      text += "import \"" + std::string(kFiles[file]) + "\"\n";
  text += functionsOf(program, 0);
  text += "cell Generated {\n";
  for (const Dim& dim : program.dims)
    text += "  dim " + dim.name + (dim.fixed ? " = " + std::to_string(dim.size) : "") + "\n";
  for (const Decl& input : program.inputs)
    text += declare("input", input, input.fill != 0);
  for (const Decl& param : program.params)
    text += declare("param", param, false);
  for (const Decl& state : program.states)
    text += declare(state.hidden ? "hidden state" : "state", state, true);
  for (const Decl& output : program.outputs)
    text += declare("output", output, false);
  std::vector<ExprPtr> values;
  for (const Equation& equation : program.equations)
    values.push_back(equation.value);
  text += declareConsts(values, "  ");
  std::string saved;
  for (const Equation& equation : program.equations)
    if (std::find(program.saved.begin(), program.saved.end(), equation.name) != program.saved.end())
      saved += (saved.empty() ? "  save " : ", ") + equation.name;
  for (const Equation& equation : program.equations)
    text += "  " + equation.name + (equation.atTime ? "[t]" : "") + " = " + print(*equation.value) +
            "\n";
  text += saved + (saved.empty() ? "" : "\n");
  if (program.wish)
    text += "  solve { chunk = " + std::to_string(program.wish) + " }\n";
  return text + "}\n";
}

std::string rnnc::generated::printAll(const Program& program) {
  std::string text = print(program);
  for (const auto& [name, file] : importedFiles(program))
    text += "// " + name + "\n" + file;
  return text;
}

std::string rnnc::generated::describe(const Program& program) {
  const Setting& s = program.setting;
  std::string text = "batch " + std::to_string(s.batch) + ", time " + std::to_string(s.time);
  for (const Dim& dim : program.dims)
    if (!dim.fixed)
      text += ", " + dim.name + " " + std::to_string(dim.size);
  text += s.isDouble ? ", f64" : ", f32";
  if (!s.arch.empty())
    text += ", " + s.arch;
  if (s.strange)
    text += ", strange inputs";
  for (const Setting::Schedule& way : s.schedules)
    text += std::string("; ") + (way.vector == 1 ? "lanes" : "chunks") +
            " in the vector, tiles in " + (way.tiles == 1 ? "sequence" : "parallel") + ", C " +
            std::to_string(way.chunk) + ", W " +
            (way.chunks ? std::to_string(way.chunks) : "auto") + ", " +
            std::to_string(way.threads) + (way.threads == 1 ? " thread" : " threads");
  return text;
}
