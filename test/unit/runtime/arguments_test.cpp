// Every argument of every function of rnn.h, and every member of rnn_plan_options and rnn_tensor,
// wrong in each way: a status, and a text that names it. The header is read, so that nothing is
// left out.
#include "backward_cell.hpp"
#include "harness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>

namespace rnnc::test {
namespace {

/// Without its comments.
std::string readHeader() {
  std::ifstream file(RNN_HEADER);
  std::string text(std::istreambuf_iterator<char>(file), {});
  for (size_t at; (at = text.find("/*")) != text.npos;) {
    text.replace(at, text.find("*/", at) + 2 - at, " ");
  }
  return text;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) {
    parts.push_back(part);
  }
  return parts;
}

/// "function/number of the argument" of every pointer that a function with a status takes.
std::set<std::string> pointersOfHeader() {
  std::set<std::string> found;
  const std::string text = readHeader(), status = "\nrnn_status";
  for (size_t at = text.find(status); at != text.npos; at = text.find(status, at + 1)) {
    const size_t name = text.find("rnn_", at + status.size()), open = text.find('(', name),
                 close = text.find(')', open);
    const auto parameters = split(text.substr(open + 1, close - open - 1), ',');
    for (size_t p = 0; p < parameters.size(); ++p) {
      if (parameters[p].find('*') != std::string::npos) {
        found.insert(text.substr(name, open - name) + "/" + std::to_string(p));
      }
    }
  }
  return found;
}

/// Members of a struct of the header: the last word of each declaration, in front of its size.
std::set<std::string> membersOf(const std::string& name) {
  const std::string text = readHeader(), begin = "typedef struct " + name + " {";
  const size_t at = text.find(begin);
  EXPECT_NE(at, text.npos) << name;
  std::set<std::string> found;
  for (const std::string& line :
       split(text.substr(at + begin.size(), text.find('}', at) - at - begin.size()), ';')) {
    for (std::string part : split(line, ',')) {
      part.erase(std::min(part.find('['), part.size()));
      const size_t last = part.find_last_not_of(" \n*");
      if (last != part.npos) {
        const size_t before = part.find_last_of(" \n*", last);
        found.insert(part.substr(before + 1, last - before));
      }
    }
  }
  return found;
}

struct Calls : testing::Test {
  Calls() : table(cellNamed("ema")), module(table.get()) {
    options = planOptions();
    options.dims = 1;
    options.dim = &dim;
    options.batch = 2;
    options.time = 3;
    EXPECT_EQ(rnn_plan_create(module.module, &options, &plan), RNN_OK);
    options.streaming = 1;
    EXPECT_EQ(rnn_plan_create(module.module, &options, &stream), RNN_OK);
    options.streaming = 0;
    size_t workspaceBytes = 0, stateBytes = 0;
    rnn_plan_sizes(stream, &workspaceBytes, nullptr, &stateBytes);
    workspace = std::make_unique<Workspace>(workspaceBytes);
    std::memset(workspace->data, 0, workspaceBytes);
    state = std::make_unique<Workspace>(stateBytes);
    rnn_tensor described[16];
    EXPECT_EQ(rnn_plan_args(plan, described), RNN_OK);
    for (size_t i = 0; i < 5; ++i) { // x0, p0, s0 at every step, before and after
      args.push_back(described[i]);
      args.back().data = numbers[i];
    }
    EXPECT_EQ(rnn_forward(plan, args.data(), workspace->data, nullptr, nullptr), RNN_OK);
    EXPECT_EQ(rnn_state_init(stream, state->data, args.data()), RNN_OK);
    later = args;
    later[3].data = nullptr; // no initial state: it goes on
    single = later;
    for (size_t i : {0, 2}) {
      single[i].shape[1] = 1;
    }
    options.compute = RNN_F64;
    options.training = RNN_TRAINING_L1;
    EXPECT_EQ(rnn_plan_create(trained.module, &options, &training), RNN_OK);
    trainingOptions = options;
    options.compute = RNN_F32;
    options.training = RNN_TRAINING_NONE;
    size_t reserveBytes = 0;
    rnn_plan_sizes(training, &workspaceBytes, &reserveBytes, nullptr);
    backwardWorkspace = std::make_unique<Workspace>(workspaceBytes);
    reserve = std::make_unique<Workspace>(reserveBytes);
    EXPECT_EQ(rnn_plan_args(training, described), RNN_OK);
    for (size_t i = 0; i < 7; ++i) { // x, a, s, h, y, h before and after
      trainArgs.push_back(described[i]);
      trainArgs.back().data = doubles[i];
      grads.push_back(described[i]);
      grads.back().data = doubles[7 + i];
    }
  }
  ~Calls() override {
    rnn_plan_destroy(plan);
    rnn_plan_destroy(stream);
    rnn_plan_destroy(training);
  }
  /// rnn_backward with an argument of them null.
  rnn_status backward(int without) {
    const bool has[] = {without != 0, without != 1, without != 2, without != 3, without != 4};
    EXPECT_EQ(
        rnn_forward(training, trainArgs.data(), backwardWorkspace->data, reserve->data, nullptr),
        RNN_OK);
    return rnn_backward(has[0] ? training : nullptr, has[1] ? trainArgs.data() : nullptr,
                        has[2] ? grads.data() : nullptr, has[3] ? backwardWorkspace->data : nullptr,
                        has[4] ? reserve->data : nullptr, nullptr);
  }
  std::string error() const { return rnn_error_text(module.context); }

  Table table;
  ModuleHandle module;
  rnn_dim_value dim = {"d", 4};
  rnn_plan_options options{}, trainingOptions{};
  rnn_plan *plan = nullptr, *stream = nullptr;
  std::unique_ptr<Workspace> workspace, state;
  alignas(64) float numbers[5][64] = {};
  std::vector<rnn_tensor> args, later, single;
  const BackwardTable adjoint;
  ModuleHandle trained{&adjoint.table};
  rnn_plan* training = nullptr;
  std::unique_ptr<Workspace> backwardWorkspace, reserve;
  alignas(64) double doubles[14][64] = {};
  std::vector<rnn_tensor> trainArgs, grads;
};

struct NullRow {
  const char* function;
  int argument;
  const char* name; ///< null: may be absent
  std::function<rnn_status(Calls&)> call;
};

rnn_module* noModule;
rnn_plan* noPlan;
size_t someBytes;
double fraction;
rnn_plan_info info;
rnn_report report;
const rnn_signature* signature;
uint32_t choiceCount;
rnn_training_choice choice;

const std::vector<NullRow> nullRows = {
    {"rnn_context_create", 0, "out", [](Calls&) { return rnn_context_create(nullptr); }},
    {"rnn_module_from_table", 0, "context",
     [](Calls& c) { return rnn_module_from_table(nullptr, c.table.get(), &noModule); }},
    {"rnn_module_from_table", 1, "table",
     [](Calls& c) { return rnn_module_from_table(c.module.context, nullptr, &noModule); }},
    {"rnn_module_from_table", 2, "out",
     [](Calls& c) { return rnn_module_from_table(c.module.context, c.table.get(), nullptr); }},
    {"rnn_module_from_bundle", 0, "context",
     [](Calls&) {
       rnn_module_bundle bundle{};
       return rnn_module_from_bundle(nullptr, &bundle, &noModule);
     }},
    {"rnn_module_from_bundle", 1, "bundle",
     [](Calls& c) { return rnn_module_from_bundle(c.module.context, nullptr, &noModule); }},
    {"rnn_module_from_bundle", 2, "out",
     [](Calls& c) {
       rnn_module_bundle bundle{};
       return rnn_module_from_bundle(c.module.context, &bundle, nullptr);
     }},
    {"rnn_module_load", 0, "context",
     [](Calls&) { return rnn_module_load(nullptr, "x.so", &noModule); }},
    {"rnn_module_load", 1, "path",
     [](Calls& c) { return rnn_module_load(c.module.context, nullptr, &noModule); }},
    {"rnn_module_load", 2, "out",
     [](Calls& c) { return rnn_module_load(c.module.context, "x.so", nullptr); }},
    {"rnn_module_describe", 0, "module",
     [](Calls&) { return rnn_module_describe(nullptr, &signature); }},
    {"rnn_module_describe", 1, "out",
     [](Calls& c) { return rnn_module_describe(c.module.module, nullptr); }},
    {"rnn_plan_create", 0, "module",
     [](Calls& c) { return rnn_plan_create(nullptr, &c.options, &noPlan); }},
    {"rnn_plan_create", 1, "options",
     [](Calls& c) { return rnn_plan_create(c.module.module, nullptr, &noPlan); }},
    {"rnn_plan_create", 2, "out",
     [](Calls& c) { return rnn_plan_create(c.module.module, &c.options, nullptr); }},
    {"rnn_training_choices", 0, "module",
     [](Calls& c) {
       return rnn_training_choices(nullptr, &c.trainingOptions, nullptr, &choiceCount);
     }},
    {"rnn_training_choices", 1, "options",
     [](Calls& c) {
       return rnn_training_choices(c.trained.module, nullptr, nullptr, &choiceCount);
     }},
    {"rnn_training_choices", 2, nullptr,
     [](Calls& c) {
       return rnn_training_choices(c.trained.module, &c.trainingOptions, nullptr, &choiceCount);
     }},
    {"rnn_training_choices", 3, "count",
     [](Calls& c) {
       return rnn_training_choices(c.trained.module, &c.trainingOptions, nullptr, nullptr);
     }},
    {"rnn_stack_choose", 0, "layer",
     [](Calls&) { return rnn_stack_choose(nullptr, 1, 0, &choice); }},
    {"rnn_stack_choose", 3, "out",
     [](Calls& c) {
       const rnn_layer layer = {c.trained.module, &c.trainingOptions};
       return rnn_stack_choose(&layer, 1, 0, nullptr);
     }},
    {"rnn_plan_describe", 0, "plan", [](Calls&) { return rnn_plan_describe(nullptr, &info); }},
    {"rnn_plan_describe", 1, "out", [](Calls& c) { return rnn_plan_describe(c.plan, nullptr); }},
    {"rnn_plan_sizes", 0, "plan",
     [](Calls&) { return rnn_plan_sizes(nullptr, &someBytes, nullptr, nullptr); }},
    {"rnn_plan_sizes", 1, nullptr,
     [](Calls& c) { return rnn_plan_sizes(c.plan, nullptr, &someBytes, &someBytes); }},
    {"rnn_plan_sizes", 2, nullptr,
     [](Calls& c) { return rnn_plan_sizes(c.plan, &someBytes, nullptr, &someBytes); }},
    {"rnn_plan_sizes", 3, nullptr,
     [](Calls& c) { return rnn_plan_sizes(c.plan, &someBytes, &someBytes, nullptr); }},
    {"rnn_plan_args", 0, "plan", [](Calls& c) { return rnn_plan_args(nullptr, c.args.data()); }},
    {"rnn_plan_args", 1, "args", [](Calls& c) { return rnn_plan_args(c.plan, nullptr); }},
    {"rnn_forward", 0, "plan",
     [](Calls& c) {
       return rnn_forward(nullptr, c.args.data(), c.workspace->data, nullptr, nullptr);
     }},
    {"rnn_forward", 1, "args",
     [](Calls& c) { return rnn_forward(c.plan, nullptr, c.workspace->data, nullptr, nullptr); }},
    {"rnn_forward", 2, "workspace",
     [](Calls& c) { return rnn_forward(c.plan, c.args.data(), nullptr, nullptr, nullptr); }},
    {"rnn_forward", 3, nullptr,
     [](Calls& c) {
       return rnn_forward(c.plan, c.args.data(), c.workspace->data, nullptr, nullptr);
     }},
    {"rnn_forward", 4, nullptr,
     [](Calls& c) {
       return rnn_forward(c.plan, c.args.data(), c.workspace->data, &someBytes, nullptr);
     }},
    {"rnn_backward", 0, "plan", [](Calls& c) { return c.backward(0); }},
    {"rnn_backward", 1, "args", [](Calls& c) { return c.backward(1); }},
    {"rnn_backward", 2, "grads", [](Calls& c) { return c.backward(2); }},
    {"rnn_backward", 3, "workspace", [](Calls& c) { return c.backward(3); }},
    {"rnn_backward", 4, "reserve", [](Calls& c) { return c.backward(4); }},
    {"rnn_backward", 5, nullptr, [](Calls& c) { return c.backward(5); }},
    {"rnn_state_init", 0, "plan",
     [](Calls& c) { return rnn_state_init(nullptr, c.state->data, c.args.data()); }},
    {"rnn_state_init", 1, "state",
     [](Calls& c) { return rnn_state_init(c.stream, nullptr, c.args.data()); }},
    {"rnn_state_init", 2, "args",
     [](Calls& c) { return rnn_state_init(c.stream, c.state->data, nullptr); }},
    {"rnn_step", 0, "plan",
     [](Calls& c) { return rnn_step(nullptr, c.state->data, c.single.data(), nullptr); }},
    {"rnn_step", 1, "state",
     [](Calls& c) { return rnn_step(c.stream, nullptr, c.single.data(), nullptr); }},
    {"rnn_step", 2, "args",
     [](Calls& c) { return rnn_step(c.stream, c.state->data, nullptr, nullptr); }},
    {"rnn_step", 3, nullptr,
     [](Calls& c) { return rnn_step(c.stream, c.state->data, c.single.data(), nullptr); }},
    {"rnn_steps", 0, "plan",
     [](Calls& c) {
       return rnn_steps(nullptr, c.state->data, c.later.data(), c.workspace->data, nullptr,
                        nullptr);
     }},
    {"rnn_steps", 1, "state",
     [](Calls& c) {
       return rnn_steps(c.stream, nullptr, c.later.data(), c.workspace->data, nullptr, nullptr);
     }},
    {"rnn_steps", 2, "args",
     [](Calls& c) {
       return rnn_steps(c.stream, c.state->data, nullptr, c.workspace->data, nullptr, nullptr);
     }},
    {"rnn_steps", 3, "workspace",
     [](Calls& c) {
       return rnn_steps(c.stream, c.state->data, c.later.data(), nullptr, nullptr, nullptr);
     }},
    {"rnn_steps", 4, nullptr,
     [](Calls& c) {
       return rnn_steps(c.stream, c.state->data, c.later.data(), c.workspace->data, nullptr,
                        nullptr);
     }},
    {"rnn_steps", 5, nullptr,
     [](Calls& c) {
       return rnn_steps(c.stream, c.state->data, c.later.data(), c.workspace->data, &someBytes,
                        nullptr);
     }},
    {"rnn_state_save", 0, "plan",
     [](Calls& c) { return rnn_state_save(nullptr, c.state->data, nullptr, &someBytes); }},
    {"rnn_state_save", 1, "state",
     [](Calls& c) { return rnn_state_save(c.stream, nullptr, nullptr, &someBytes); }},
    {"rnn_state_save", 2, nullptr,
     [](Calls& c) { return rnn_state_save(c.stream, c.state->data, nullptr, &someBytes); }},
    {"rnn_state_save", 3, "bytes",
     [](Calls& c) { return rnn_state_save(c.stream, c.state->data, nullptr, nullptr); }},
    {"rnn_state_restore", 0, "plan",
     [](Calls& c) {
       return rnn_state_restore(nullptr, c.state->data, c.args.data(), c.numbers, 8);
     }},
    {"rnn_state_restore", 1, "state",
     [](Calls& c) { return rnn_state_restore(c.stream, nullptr, c.args.data(), c.numbers, 8); }},
    {"rnn_state_restore", 2, "args",
     [](Calls& c) {
       std::vector<unsigned char> saved(4096);
       size_t bytes = saved.size();
       rnn_state_save(c.stream, c.state->data, saved.data(), &bytes);
       return rnn_state_restore(c.stream, c.state->data, nullptr, saved.data(), bytes);
     }},
    {"rnn_state_restore", 3, "from",
     [](Calls& c) {
       return rnn_state_restore(c.stream, c.state->data, c.args.data(), nullptr, 8);
     }},
    {"rnn_report_read", 0, "plan",
     [](Calls& c) { return rnn_report_read(nullptr, c.workspace->data, &report); }},
    {"rnn_report_read", 1, "workspace",
     [](Calls& c) { return rnn_report_read(c.plan, nullptr, &report); }},
    {"rnn_report_read", 2, "out",
     [](Calls& c) { return rnn_report_read(c.plan, c.workspace->data, nullptr); }},
    {"rnn_progress_read", 0, "plan",
     [](Calls& c) { return rnn_progress_read(nullptr, c.workspace->data, &fraction); }},
    {"rnn_progress_read", 1, "workspace",
     [](Calls& c) { return rnn_progress_read(c.plan, nullptr, &fraction); }},
    {"rnn_progress_read", 2, "fraction",
     [](Calls& c) { return rnn_progress_read(c.plan, c.workspace->data, nullptr); }},
};

TEST_F(Calls, ANullArgumentIsNamed) {
  info.size = sizeof(info);
  report.size = sizeof(report);
  std::set<std::string> tested;
  for (const NullRow& row : nullRows) {
    const std::string what = std::string(row.function) + "/" + std::to_string(row.argument);
    SCOPED_TRACE(what);
    tested.insert(what);
    const rnn_status status = row.call(*this);
    if (!row.name) {
      EXPECT_EQ(status, RNN_OK) << error();
      continue;
    }
    EXPECT_EQ(status, RNN_INVALID_ARGUMENT);
    const std::string start = std::string(row.function) + ": argument `" + row.name + "` is null";
    EXPECT_EQ(error().substr(0, start.size()), start);
  }
  EXPECT_EQ(tested, pointersOfHeader());
}

struct OptionRow {
  const char* member;
  const char* text; ///< what the error begins with; null: every value has a meaning
  void (*spoil)(rnn_plan_options&);
};

constexpr int32_t fallingOffsets[] = {0, 2, 1, 3}, lateOffsets[] = {1, 2, 3, 3},
                  shortOffsets[] = {0, 1, 2, 2}, goodOffsets[] = {0, 1, 2, 3};
const rnn_dim_value unknownDim = {"e", 4}, negativeDim = {"d", -1}, namelessDim = {nullptr, 4};
const rnn_dim_value twoDims[] = {{"d", 4}, {"d", 5}};

/// A value that the enumeration does not have.
template <class Struct, class Enum, Enum Struct::* member>
void unknown(Struct& spoilt) {
  spoilt.*member = static_cast<Enum>(77);
}

const std::vector<OptionRow> optionRows = {
    {"size", "rnn_plan_options: `size` is 3", [](auto& o) { o.size = 3; }},
    {"dims", "dim d has no size", [](auto& o) { o.dims = 0; }},
    {"dims", "`dim` is null, but `dims` is 1", [](auto& o) { o.dim = nullptr; }},
    {"dim", "dim e: the module has no such dim", [](auto& o) { o.dim = &unknownDim; }},
    {"dim", "dim d: size -1 is negative", [](auto& o) { o.dim = &negativeDim; }},
    {"dim", "dim: a name is null", [](auto& o) { o.dim = &namelessDim; }},
    {"dim", "dim d: two sizes were given, 4 and 5",
     [](auto& o) {
       o.dims = 2;
       o.dim = twoDims;
     }},
    {"batch", "batch is -1; it cannot be negative", [](auto& o) { o.batch = -1; }},
    {"batch", "batch x time is too large", [](auto& o) { o.batch = INT64_MAX; }},
    {"time", "time is -1; it cannot be negative", [](auto& o) { o.time = -1; }},
    {"time", "batch x time is too large", [](auto& o) { o.time = INT64_MAX; }},
    {"compute", "compute: only f32 and f64", [](auto& o) { o.compute = RNN_F16; }},
    {"compute", "compute: only f32 and f64",
     unknown<rnn_plan_options, rnn_dtype, &rnn_plan_options::compute>},
    {"schedule", "schedule: 77 is unknown",
     unknown<rnn_plan_options, rnn_schedule, &rnn_plan_options::schedule>},
    {"vector", "vector: 77 is unknown",
     unknown<rnn_plan_options, rnn_vector, &rnn_plan_options::vector>},
    {"tiles", "tiles: 77 is unknown",
     unknown<rnn_plan_options, rnn_tiles, &rnn_plan_options::tiles>},
    {"chunk", "chunk is -1; it cannot be negative", [](auto& o) { o.chunk = -1; }},
    {"chunks", "chunks is -1; it cannot be negative", [](auto& o) { o.chunks = -1; }},
    {"tolerance", "tolerance is not finite", [](auto& o) { o.tolerance = INFINITY; }},
    {"tolerance", "tolerance is not finite", [](auto& o) { o.tolerance = NAN; }},
    {"max_sweeps", "max_sweeps is -1; it cannot be negative", [](auto& o) { o.max_sweeps = -1; }},
    {"max_sweeps", "max_sweeps is 3, but tolerance 0", [](auto& o) { o.max_sweeps = 3; }},
    {"threads", "threads is -1; it must be in 0..4096", [](auto& o) { o.threads = -1; }},
    {"threads", "threads is 4097; it must be in 0..4096", [](auto& o) { o.threads = 4097; }},
    {"streaming", nullptr, nullptr},
    {"segments", "segments is -1; it cannot be negative",
     [](auto& o) {
       o.batch = 1;
       o.segments = -1;
       o.segment_offsets = goodOffsets;
       o.offset_bits = 32;
     }},
    {"segments", "batch is 2, but a packed batch",
     [](auto& o) {
       o.segments = 3;
       o.segment_offsets = goodOffsets;
       o.offset_bits = 32;
     }},
    {"segment_offsets", "segment_offsets is null, but segments is 3",
     [](auto& o) { o.segments = 3; }},
    {"segment_offsets", "segment_offsets: offset 2 is 1, less than",
     [](auto& o) {
       o.batch = 1;
       o.segments = 3;
       o.segment_offsets = fallingOffsets;
       o.offset_bits = 32;
     }},
    {"segment_offsets", "segment_offsets: the first one is 1",
     [](auto& o) {
       o.batch = 1;
       o.segments = 3;
       o.segment_offsets = lateOffsets;
       o.offset_bits = 32;
     }},
    {"segment_offsets", "segment_offsets: the last one is 2, but time is 3",
     [](auto& o) {
       o.batch = 1;
       o.segments = 3;
       o.segment_offsets = shortOffsets;
       o.offset_bits = 32;
     }},
    {"segment_offsets", "segment_offsets: not aligned",
     [](auto& o) {
       o.batch = 1;
       o.segments = 2;
       o.segment_offsets = reinterpret_cast<const char*>(goodOffsets) + 1;
       o.offset_bits = 32;
     }},
    {"offset_bits", "offset_bits is 16; it must be 32 or 64",
     [](auto& o) {
       o.batch = 1;
       o.segments = 3;
       o.segment_offsets = goodOffsets;
       o.offset_bits = 16;
     }},
    {"reversed", "reversed: a stream goes on",
     [](auto& o) {
       o.reversed = 1;
       o.streaming = 1;
     }},
    {"reset", nullptr, nullptr},
    {"device", "device: 77 is unknown",
     unknown<rnn_plan_options, rnn_device, &rnn_plan_options::device>},
    {"ordinal", "ordinal is -1; it cannot be negative", [](auto& o) { o.ordinal = -1; }},
    {"training", "training: 77 is unknown",
     unknown<rnn_plan_options, rnn_training, &rnn_plan_options::training>},
    {"training", "training: a stream keeps nothing",
     [](auto& o) {
       o.training = RNN_TRAINING_L1;
       o.streaming = 1;
     }},
    {"training", "training: module ema was built without gradients",
     [](auto& o) { o.training = RNN_TRAINING_L1; }},
    {"checkpoint", "checkpoint is -1; it cannot be negative", [](auto& o) { o.checkpoint = -1; }},
    {"checkpoint", "checkpoint is 5, but only training L2 and L3",
     [](auto& o) { o.checkpoint = 5; }},
    {"memory_budget", "memory_budget is 5, but only training AUTO",
     [](auto& o) { o.memory_budget = 5; }},
    {"window", "window is -1; it cannot be negative", [](auto& o) { o.window = -1; }},
    {"window", "window is 5, but only with checkpoints", [](auto& o) { o.window = 5; }},
};

TEST_F(Calls, AnOptionThatIsWrongIsNamed) {
  std::set<std::string> tested;
  for (const OptionRow& row : optionRows) {
    SCOPED_TRACE(row.member);
    tested.insert(row.member);
    if (!row.spoil) {
      continue;
    }
    rnn_plan_options spoilt = options;
    row.spoil(spoilt);
    rnn_plan* made = plan;
    const rnn_status status = rnn_plan_create(module.module, &spoilt, &made);
    EXPECT_TRUE(status == RNN_INVALID_ARGUMENT || status == RNN_UNSUPPORTED) << status;
    EXPECT_EQ(made, nullptr);
    EXPECT_EQ(error().substr(0, std::strlen(row.text)), row.text);
  }
  EXPECT_EQ(tested, membersOf("rnn_plan_options"));
}

struct TensorRow {
  const char* member;
  const char* text; ///< behind the argument's name
  void (*spoil)(rnn_tensor&);
};

const std::vector<TensorRow> tensorRows = {
    {"data", "data is null, but it is required", [](auto& t) { t.data = nullptr; }},
    {"data", "data is not aligned to the 4 bytes of an element",
     [](auto& t) { t.data = static_cast<char*>(t.data) + 2; }},
    {"dtype", "dtype is u8, which is for masks alone", [](auto& t) { t.dtype = RNN_U8; }},
    {"dtype", "dtype 77 is unknown", unknown<rnn_tensor, rnn_dtype, &rnn_tensor::dtype>},
    {"rank", "rank is 0, the plan has 3, [2, 3, 4]", [](auto& t) { t.rank = 0; }},
    {"rank", "rank is 9, the plan has 3, [2, 3, 4]", [](auto& t) { t.rank = 9; }},
    {"shape", "shape is [2, 3, 5], the plan has [2, 3, 4]", [](auto& t) { t.shape[2] = 5; }},
    {"shape", "shape is [2, -3, 4], the plan has [2, 3, 4]", [](auto& t) { t.shape[1] = -3; }},
    {"strides", "its strides reach beyond the address space",
     [](auto& t) { t.strides[1] = INT64_MAX / 2; }},
    {"strides", "its strides reach beyond the address space",
     [](auto& t) { t.strides[0] = INT64_MIN; }},
};

TEST_F(Calls, ATensorThatIsWrongIsNamed) {
  std::set<std::string> tested;
  for (const TensorRow& row : tensorRows) {
    SCOPED_TRACE(row.text);
    tested.insert(row.member);
    for (size_t argument : {0, 2}) { // an input and a result, both (batch, time, d)
      std::vector<rnn_tensor> spoilt = args;
      row.spoil(spoilt[argument]);
      if (argument == 2 && !spoilt[2].data) {
        continue; // nobody wants it
      }
      EXPECT_EQ(rnn_forward(plan, spoilt.data(), workspace->data, nullptr, nullptr),
                RNN_INVALID_ARGUMENT);
      const std::string start =
          (argument == 0 ? "argument 0 (input x0): " : "argument 2 (state s0): ") +
          std::string(row.text);
      EXPECT_EQ(error().substr(0, start.size()), start);
    }
  }
  EXPECT_EQ(tested, membersOf("rnn_tensor"));
}

} // namespace
} // namespace rnnc::test
