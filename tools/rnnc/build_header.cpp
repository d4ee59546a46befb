#include "build_header.h"

#include "source.h"

#include "rnn/rnn.h"
#include "rnnc/ModuleFile.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <string_view>
#include <vector>

using namespace rnnc;
using namespace rnnc::tool;

namespace {

// C11's and C++20's keywords, and what their compilers and headers define as macros.
const std::set<std::string_view> kTaken = {"alignas",
                                           "alignof",
                                           "and",
                                           "and_eq",
                                           "asm",
                                           "assert",
                                           "auto",
                                           "bitand",
                                           "bitor",
                                           "bool",
                                           "break",
                                           "case",
                                           "catch",
                                           "char",
                                           "char16_t",
                                           "char32_t",
                                           "char8_t",
                                           "class",
                                           "co_await",
                                           "co_return",
                                           "co_yield",
                                           "compl",
                                           "complex",
                                           "concept",
                                           "const",
                                           "const_cast",
                                           "consteval",
                                           "constexpr",
                                           "constinit",
                                           "continue",
                                           "decltype",
                                           "default",
                                           "delete",
                                           "do",
                                           "double",
                                           "dynamic_cast",
                                           "else",
                                           "enum",
                                           "errno",
                                           "explicit",
                                           "export",
                                           "extern",
                                           "false",
                                           "float",
                                           "for",
                                           "friend",
                                           "goto",
                                           "if",
                                           "inline",
                                           "int",
                                           "linux",
                                           "long",
                                           "mutable",
                                           "namespace",
                                           "new",
                                           "noexcept",
                                           "not",
                                           "not_eq",
                                           "nullptr",
                                           "operator",
                                           "or",
                                           "or_eq",
                                           "private",
                                           "protected",
                                           "public",
                                           "register",
                                           "reinterpret_cast",
                                           "requires",
                                           "restrict",
                                           "return",
                                           "short",
                                           "signed",
                                           "sizeof",
                                           "static",
                                           "static_assert",
                                           "static_cast",
                                           "struct",
                                           "switch",
                                           "template",
                                           "this",
                                           "thread_local",
                                           "throw",
                                           "true",
                                           "try",
                                           "typedef",
                                           "typeid",
                                           "typename",
                                           "typeof",
                                           "typeof_unqual",
                                           "union",
                                           "unix",
                                           "unsigned",
                                           "using",
                                           "virtual",
                                           "void",
                                           "volatile",
                                           "wchar_t",
                                           "while",
                                           "xor",
                                           "xor_eq",
                                           "I",
                                           "EOF",
                                           "NULL"};

/// Names of one struct.
class Members {
public:
  std::string add(std::string name) {
    while (kTaken.contains(name) || !seen.insert(name).second)
      name += '_';
    return name;
  }

private:
  std::set<std::string> seen;
};

struct Member {
  std::string name, comment;
};

class Header {
public:
  Header(const Options& options, const rnn_signature& signature)
      : options(options), table(*signature.table), cell(table.cell) {
    listDims();
    listArrays(signature);
  }
  std::string text() const;

private:
  void listDims();
  void listArrays(const rnn_signature& signature);
  std::string shapeText(const rnn_tensor_desc& tensor, const char* before) const;
  std::string structs() const;
  std::string plan() const;
  std::string calls() const;

  const Options& options;
  const rnn_module_table& table;
  std::string cell;
  std::vector<std::pair<std::string, std::string>> dims; ///< the file's name, the member's
  std::vector<Member> arrays;                            ///< in the order of the signature
  Members arrayNames;
};

} // namespace

void Header::listDims() {
  Members names;
  names.add("batch");
  names.add("time");
  std::set<std::string> seen;
  for (uint32_t i = 0; i < table.tensors; ++i)
    for (uint32_t a = 0; a < table.tensor[i].rank; ++a)
      if (table.tensor[i].sizes[a] < 0 && seen.insert(table.tensor[i].dims[a]).second)
        dims.emplace_back(table.tensor[i].dims[a], names.add(table.tensor[i].dims[a]));
}

std::string Header::shapeText(const rnn_tensor_desc& tensor, const char* before) const {
  std::string text = before;
  for (uint32_t a = 0; a < tensor.rank; ++a) {
    text += text.empty() ? "" : ", ";
    std::string size = std::to_string(tensor.sizes[a]);
    bool isNamed = tensor.sizes[a] < 0 || tensor.dims[a] != size;
    text += isNamed ? tensor.dims[a] : "";
    text += tensor.sizes[a] < 0 ? "" : (isNamed ? " " : "") + size;
  }
  return "(" + text + ")";
}

/// What the header says of an array, and where it has to be told from a state's others.
struct ArgKind {
  const char *what, *suffix, *before;
};
static ArgKind kindOf(const rnn_arg_desc& arg, const rnn_tensor_desc& tensor) {
  switch (arg.kind) {
  case RNN_ARG_INPUT:
    return {"input", "", "batch, time"};
  case RNN_ARG_PARAM:
    return {"param", "", ""};
  case RNN_ARG_SEQUENCE:
    return {tensor.role == RNN_ROLE_STATE ? "state at every step, or without data:"
                                          : "output, or without data:",
            "", "batch, time"};
  case RNN_ARG_INITIAL:
    return {"before the first step, or without data:", "_initial", "batch"};
  case RNN_ARG_FINAL:
    return {"after the last step, or without data:", "_final", "batch"};
  }
  return {"", "", ""};
}

void Header::listArrays(const rnn_signature& signature) {
  for (uint32_t i = 0; i < signature.args; ++i) {
    const rnn_tensor_desc& tensor = table.tensor[signature.arg[i].tensor];
    ArgKind kind = kindOf(signature.arg[i], tensor);
    arrays.push_back({arrayNames.add(std::string(tensor.name) + kind.suffix),
                      fmt::format("{} {}", kind.what, shapeText(tensor, kind.before))});
  }
  arrays.push_back(
      {arrayNames.add("reset"), "only of a plan with `reset`: (batch, time) of RNN_U8"});
}

std::string Header::structs() const {
  std::string text = fmt::format(R"(/* What a plan fixes. */
typedef struct {0}_sizes {{
  int64_t batch, time;
)",
                                 cell);
  for (const auto& dim : dims)
    text += fmt::format("  int64_t {};\n", dim.second);
  text += fmt::format(R"(}} {0}_sizes;

/* The arrays of a call, in the order of rnn_signature. */
typedef struct {0}_args {{
)",
                      cell);
  for (const Member& array : arrays)
    text += fmt::format("  rnn_tensor {}; /* {} */\n", array.name, array.comment);
  return text + fmt::format("}} {0}_args;\n", cell);
}

std::string Header::plan() const {
  std::string values;
  for (const auto& [name, member] : dims)
    values += fmt::format("{}{{\"{}\", sizes->{}}}", values.empty() ? "" : ", ", name, member);
  std::string bind = dims.empty() ? ""
                                  : fmt::format(R"(
  const rnn_dim_value dims[] = {{{0}}};
  options.dims = {1};
  options.dim = dims;)",
                                                values, dims.size());
  return fmt::format(
      R"(/* A plan for these sizes. `others`: all that rnn_plan_options has beside them; null: as the cell
 * wishes, and as the cost model chooses. */
static inline rnn_status {0}_plan(const rnn_module* module, const {0}_sizes* sizes,
                                  const rnn_plan_options* others, rnn_plan** out) {{
  rnn_plan_options options;
  memset(&options, 0, sizeof(options));
  if (others)
    memcpy(&options, others, others->size < sizeof(options) ? others->size : sizeof(options));
  else
    options.tolerance = -1;
  options.size = sizeof(options);
  options.compute = {1};
  options.batch = sizes->batch;
  options.time = sizes->time;{2}
  return rnn_plan_create(module, &options, out);
}}
)",
      cell, computeType(options) == RNN_F64 ? "RNN_F64" : "RNN_F32", bind);
}

std::string Header::calls() const {
  return fmt::format(
      R"(/* The arrays of a plan's call: shapes and row-major strides, without data (rnn_plan_args). */
static inline rnn_status {0}_plan_args(const rnn_plan* plan, {0}_args* args) {{
  memset(args, 0, sizeof(*args));
  return rnn_plan_args(plan, (rnn_tensor*)args);
}}

/* rnn.h says what these do. */
static inline rnn_status {0}_forward(const rnn_plan* plan, const {0}_args* args, void* workspace,
                                     void* reserve, void* stream) {{
  return rnn_forward(plan, (const rnn_tensor*)args, workspace, reserve, stream);
}}
/* `grads`: the derivative of the loss by each of `args`. */
static inline rnn_status {0}_backward(const rnn_plan* plan, const {0}_args* args, const {0}_args* grads,
                                      void* workspace, const void* reserve, void* stream) {{
  return rnn_backward(plan, (const rnn_tensor*)args, (const rnn_tensor*)grads, workspace, reserve, stream);
}}
static inline rnn_status {0}_state_init(const rnn_plan* plan, void* state, const {0}_args* args) {{
  return rnn_state_init(plan, state, (const rnn_tensor*)args);
}}
static inline rnn_status {0}_step(const rnn_plan* plan, void* state, const {0}_args* args,
                                  void* stream) {{
  return rnn_step(plan, state, (const rnn_tensor*)args, stream);
}}
static inline rnn_status {0}_steps(const rnn_plan* plan, void* state, const {0}_args* args,
                                   void* workspace, void* reserve, void* stream) {{
  return rnn_steps(plan, state, (const rnn_tensor*)args, workspace, reserve, stream);
}}
)",
      cell);
}

std::string Header::text() const {
  return fmt::format(R"(/* The cell {0} of {1}, for C and C++. Made by rnnc {2}. */
#ifndef RNN_CELL_{0}_H
#define RNN_CELL_{0}_H

#include "rnn/rnn.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {{
#endif

/* In the object file that rnnc wrote of the cell. */
extern const rnn_module_bundle {3};

static inline rnn_status {0}_module(rnn_context* context, rnn_module** out) {{
  return rnn_module_from_bundle(context, &{3}, out);
}}

{4}
{5}
{6}
#ifdef __cplusplus
}}
#endif
#endif
)",
                     cell, std::filesystem::path(options.file).filename().string(), RNNC_VERSION,
                     bundleSymbol(cell), structs(), plan(), calls());
}

std::string rnnc::tool::headerText(const Options& options, const rnn_signature& signature) {
  return Header(options, signature).text();
}
