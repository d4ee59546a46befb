// Streams: however a sequence is cut into pieces and single steps, no bit changes.
#include "stage_tables.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace rnnc::test {
namespace {

/// Pieces of `time` steps in all, over every schedule; single steps between them.
std::vector<Piece> piecesOf(int64_t time, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Piece> pieces;
  const int64_t sizes[] = {1, 2, 3, 16, 17, 50, 130};
  while (time > 0) {
    const bool isSingle = random() % 3 == 0;
    const int64_t steps = std::min(time, sizes[random() % (isSingle ? 4 : 7)]);
    pieces.push_back({optionsFor(schedules[random() % schedules.size()], 4), steps, isSingle});
    time -= steps;
  }
  return pieces;
}

template <class F>
void expectWhole(Problem<F>& problem, int64_t time, uint64_t seed) {
  problem.reference();
  const Outcome out = problem.runPieces(piecesOf(time, seed));
  ASSERT_EQ(out.status, RNN_OK) << out.error;
  ASSERT_EQ(out.difference, "") << problem.cell().name << " seed " << seed;
}

TEST(Stream, EveryCellInPieces) {
  for (const char* name : {"paragru", "paralstm", "ladder", "triangular", "uncoupled", "logistic",
                           "ema", "cumulative_sum"}) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      Problem<float>::Options f;
      f.batch = 2;
      f.width = 19;
      f.time = 300;
      Problem<float> single(cellNamed(name), f);
      expectWhole(single, f.time, seed);
      Problem<double>::Options d;
      d.heads = 3;
      d.width = 5;
      d.time = 211;
      Problem<double> wide(cellNamed(name), d);
      expectWhole(wide, d.time, seed);
    }
  }
}

// What was before a piece is read across its start, as far back as the delay reaches: within a
// piece, across several of them, and from before the sequence.
TEST(Stream, DelayedInputsReadAcrossPieces) {
  const std::vector<std::vector<uint32_t>> delays = {
      {1}, {0, 1, 2}, {16, 0, 3}, {70, 63, 65}, {290}};
  for (const std::vector<uint32_t>& back : delays) {
    for (bool oneInput : {false, true}) {
      for (Layout layout : {Layout::Contiguous, Layout::Reversed, Layout::LaneMajor}) {
        Problem<float>::Options o;
        o.batch = 2;
        o.width = 17;
        o.time = 300;
        o.layout = layout;
        o.storage = layout == Layout::Reversed ? RNN_F64 : RNN_F32;
        o.table.back = back;
        o.table.oneInput = oneInput;
        o.table.before = -.75;
        Problem<float> problem(cellNamed("paragru"), o);
        expectWhole(problem, o.time, back.size() + oneInput);
      }
    }
  }
}

/// A module of a table, its plan for streaming, and a state.
class TableStream {
public:
  TableStream(const rnn_module_table* table, std::vector<rnn_dim_value> dims, int64_t batch,
              rnn_dtype compute)
      : module_(table), dims_(std::move(dims)), batch_(batch), compute_(compute) {
    EXPECT_EQ(module_.status, RNN_OK) << rnn_error_text(module_.context);
  }
  ~TableStream() { rnn_plan_destroy(plan_); }

  rnn_plan* plan(int64_t time) {
    rnn_plan_destroy(plan_);
    plan_ = nullptr;
    rnn_plan_options options = planOptions();
    options.dims = uint32_t(dims_.size());
    options.dim = dims_.data();
    options.batch = batch_;
    options.time = time;
    options.compute = compute_;
    options.streaming = 1;
    EXPECT_EQ(rnn_plan_create(module_.module, &options, &plan_), RNN_OK) << error();
    return plan_;
  }
  const char* error() const { return rnn_error_text(module_.context); }

  /// `steps` steps from `first` on; `args` are those of the whole sequence.
  rnn_status go(const std::vector<rnn_tensor>& args, int64_t first, int64_t steps, bool isSingle) {
    plan(steps);
    size_t workspaceBytes, stateBytes;
    rnn_plan_sizes(plan_, &workspaceBytes, nullptr, &stateBytes);
    if (!state_) {
      state_ = std::make_unique<Workspace>(stateBytes);
      if (rnn_status status = rnn_state_init(plan_, state_->data, args.data()); status != RNN_OK) {
        return status;
      }
    }
    Workspace workspace(workspaceBytes);
    for (int64_t t = 0; isSingle && t < steps; ++t) {
      rnn_status status =
          rnn_step(plan_, state_->data, partOf(module_.module, args, first + t, 1).data(), nullptr);
      if (status != RNN_OK) {
        return status;
      }
    }
    return isSingle
               ? RNN_OK
               : rnn_steps(plan_, state_->data, partOf(module_.module, args, first, steps).data(),
                           workspace.data, nullptr, nullptr);
  }

private:
  ModuleHandle module_;
  std::vector<rnn_dim_value> dims_;
  int64_t batch_;
  rnn_dtype compute_;
  rnn_plan* plan_ = nullptr;
  std::unique_ptr<Workspace> state_;
};

std::vector<int64_t> sizesOf(const std::vector<const char*>& dims, bool isSequence, int64_t batch,
                             int64_t time) {
  std::vector<int64_t> shape;
  if (isSequence) {
    shape = {batch, time};
  }
  for (const char* dim : dims) {
    shape.push_back(*dim == 'h' ? 2 : *dim == 'n' ? 5 : *dim == 'k' ? 4 : 3);
  }
  return shape;
}

// A product of an earlier input needs what was before the piece, in every form.
TEST(Stream, ProductsOfEarlierInputs) {
  constexpr int64_t batch = 2, time = 37;
  for (const Form& form : forms) {
    for (uint32_t back : {0u, 1u, 5u, 36u}) {
      SCOPED_TRACE(std::string(form.name) + ", back " + std::to_string(back));
      ProductTable table(form);
      table.back = back;
      table.before = .375;
      const rnn_module_table* module = table.get();
      std::vector<rnn_dim_value> dims{{"k", 4}, {"d", 1}};
      auto has = [&](const char* name) {
        return std::any_of(table.tensors.begin(), table.tensors.end(), [&](const auto& tensor) {
          return std::any_of(tensor.dims, tensor.dims + tensor.rank,
                             [&](const char* dim) { return std::string(dim) == name; });
        });
      };
      for (const rnn_dim_value& dim :
           {rnn_dim_value{"h", 2}, rnn_dim_value{"n", 5}, rnn_dim_value{"r", 3}}) {
        if (has(dim.name)) {
          dims.push_back(dim);
        }
      }
      Strided x(sizesOf(table.xDims, true, batch, time), RNN_F32, true, 1);
      Strided w(sizesOf(table.wDims, false, batch, time), RNN_F32, true, 1000);
      Strided b(sizesOf(table.bDims, false, batch, time), RNN_F32, true, 2000);
      Strided g({batch, time, 1}, RNN_F32, false, 4000);
      Strided whole(sizesOf(table.yDims, true, batch, time), RNN_F32, true, 3000);
      Strided pieces = whole;
      auto args = [&](Strided& y) {
        return std::vector<rnn_tensor>{x.tensor(), g.tensor(), w.tensor(), b.tensor(),
                                       {},         y.tensor(), {},         {}};
      };
      TableStream one(module, dims, batch, RNN_F32);
      ASSERT_EQ(one.go(args(whole), 0, time, false), RNN_OK) << one.error();
      TableStream many(module, dims, batch, RNN_F32);
      int64_t first = 0;
      for (int64_t steps : {3, 1, 20, 2, 11}) {
        ASSERT_EQ(many.go(args(pieces), first, steps, steps < 4), RNN_OK) << many.error();
        first += steps;
      }
      ASSERT_EQ(first, time);
      EXPECT_EQ(whole.narrow, pieces.narrow);
    }
  }
}

// What follows from the params alone is made once, when the stream begins.
TEST(Stream, AChainOfStages) {
  constexpr int64_t batch = 2, time = 50, m = 7, d = 5, n = 3;
  ChainTable chain;
  const rnn_module_table* module = chain.get();
  const std::vector<rnn_dim_value> dims{{"m", m}, {"d", d}, {"n", n}};
  Strided x({batch, time, m}, RNN_F64, false, 1), p({}, RNN_F64, false, 50);
  Strided w({d, m}, RNN_F64, false, 100), c({n, d}, RNN_F64, false, 200);
  Strided h({batch, time, d}, RNN_F32, true, 300), y({batch, time, n}, RNN_F64, false, 400);
  Strided hOfPieces = h, yOfPieces = y;
  auto args = [&](Strided& toH, Strided& toY) {
    return std::vector<rnn_tensor>{x.tensor(),   p.tensor(),   w.tensor(), c.tensor(),
                                   toH.tensor(), toY.tensor(), {},         {}};
  };
  TableStream one(module, dims, batch, RNN_F64);
  ASSERT_EQ(one.go(args(h, y), 0, time, false), RNN_OK) << one.error();
  TableStream many(module, dims, batch, RNN_F64);
  ASSERT_EQ(many.go(args(hOfPieces, yOfPieces), 0, 20, true), RNN_OK) << many.error();
  ASSERT_EQ(many.go(args(hOfPieces, yOfPieces), 20, 30, false), RNN_OK) << many.error();
  EXPECT_EQ(h.narrow, hOfPieces.narrow);
  EXPECT_EQ(y.wide, yOfPieces.wide);
}

TEST(Stream, AStepThatIsNotFiniteIsReported) {
  Problem<float>::Options o;
  o.width = 3;
  o.time = 1;
  Problem<float> problem(cellNamed("ema"), o);
  ModuleHandle module(problem.table.get());
  const rnn_dim_value dim{"d", 3};
  rnn_plan_options options = planOptions();
  options.dims = 1;
  options.dim = &dim;
  options.batch = options.time = 1;
  options.streaming = 1;
  rnn_plan* plan = nullptr;
  ASSERT_EQ(rnn_plan_create(module.module, &options, &plan), RNN_OK);
  size_t bytes;
  rnn_plan_sizes(plan, nullptr, nullptr, &bytes);
  Workspace state(bytes);
  Array x({1, 1, 3}, 1, Layout::Contiguous, RNN_F32), p({3}, -1, Layout::Contiguous, RNN_F32);
  x.set(std::array<int64_t, 3>{0, 0, 1}, INFINITY);
  const rnn_tensor args[] = {x.tensor, p.tensor, {}, {}, {}};
  rnn_report report{};
  report.size = sizeof(report);
  ASSERT_EQ(rnn_state_init(plan, state.data, args), RNN_OK);
  EXPECT_EQ(rnn_report_read(plan, state.data, &report), RNN_INVALID_ARGUMENT);
  ASSERT_EQ(rnn_step(plan, state.data, args, nullptr), RNN_OK);
  ASSERT_EQ(rnn_report_read(plan, state.data, &report), RNN_OK);
  EXPECT_EQ(report.first_nonfinite, 0);
  rnn_plan_destroy(plan);
}

/// A streaming plan of "triangular" with d = 5, T = 7, batch 2, and everything it can be given.
class StreamErrors : public testing::Test {
protected:
  StreamErrors() : table(cellNamed("triangular")), module(table.get()) {
    plan = make(5, 7, 1);
    for (auto shape : {std::vector<int64_t>{2, 1, 5}, {2, 1, 5}}) {
      arrays.emplace_back(shape, 1, Layout::Contiguous, RNN_F32);
    }
    arrays.emplace_back(std::vector<int64_t>{5}, -1, Layout::Contiguous, RNN_F32);
    arrays.emplace_back(std::vector<int64_t>{}, -1, Layout::Contiguous, RNN_F32);
    for (int i = 0; i < 3; ++i) {
      arrays.emplace_back(std::vector<int64_t>{2, 1, 5}, 1, Layout::Contiguous, RNN_F32);
    }
    for (int i = 0; i < 4; ++i) {
      arrays.emplace_back(std::vector<int64_t>{2, 5}, -1, Layout::Contiguous, RNN_F32);
    }
    for (Array& array : arrays) {
      std::fill(array.bytes.begin(), array.bytes.end(), 0);
      args.push_back(array.tensor);
    }
    stepArgs = args;
    stepArgs[7].data = stepArgs[8].data = nullptr;
    size_t bytes;
    rnn_plan_sizes(plan, &workspaceBytes, nullptr, &bytes);
    state = std::make_unique<Workspace>(bytes);
    workspace = std::make_unique<Workspace>(workspaceBytes);
  }
  ~StreamErrors() override { rnn_plan_destroy(plan); }

  rnn_plan* make(int64_t d, int64_t time, uint32_t streaming, int64_t batch = 2) {
    const rnn_dim_value dim{"d", d};
    rnn_plan_options options = planOptions();
    options.dims = 1;
    options.dim = &dim;
    options.batch = batch;
    options.time = time;
    options.streaming = streaming;
    rnn_plan* made = nullptr;
    EXPECT_EQ(rnn_plan_create(module.module, &options, &made), RNN_OK);
    return made;
  }
  std::string error(rnn_status status) {
    EXPECT_EQ(status, RNN_INVALID_ARGUMENT);
    return rnn_error_text(module.context);
  }
  void* shifted(void* data) { return static_cast<char*>(data) + 8; }

  Table table;
  ModuleHandle module;
  rnn_plan* plan;
  std::vector<Array> arrays;
  std::vector<rnn_tensor> args, stepArgs;
  size_t workspaceBytes = 0;
  std::unique_ptr<Workspace> state, workspace;
};

TEST_F(StreamErrors, NullAndMisaligned) {
  EXPECT_EQ(error(rnn_state_init(nullptr, state->data, args.data())),
            "rnn_state_init: argument `plan` is null");
  EXPECT_EQ(error(rnn_state_init(plan, nullptr, args.data())),
            "rnn_state_init: argument `state` is null");
  EXPECT_EQ(error(rnn_state_init(plan, state->data, nullptr)),
            "rnn_state_init: argument `args` is null");
  EXPECT_EQ(error(rnn_state_init(plan, shifted(state->data), args.data())),
            "rnn_state_init: argument `state` is not aligned to 64 bytes");
  ASSERT_EQ(rnn_state_init(plan, state->data, args.data()), RNN_OK);
  EXPECT_EQ(error(rnn_step(plan, state->data, nullptr, nullptr)),
            "rnn_step: argument `args` is null");
  EXPECT_EQ(error(rnn_step(plan, state->data, stepArgs.data(), this)),
            "rnn_step: argument `stream` must be null on the CPU");
  EXPECT_EQ(
      error(rnn_steps(plan, state->data, stepArgs.data(), nullptr, nullptr, nullptr)),
      "rnn_steps: argument `workspace` is null; rnn_plan_sizes tells how many bytes it needs (" +
          std::to_string(workspaceBytes) + ")");
  EXPECT_EQ(error(rnn_steps(plan, state->data, stepArgs.data(), shifted(workspace->data), nullptr,
                            nullptr)),
            "rnn_steps: argument `workspace` is not aligned to 64 bytes");
  EXPECT_EQ(error(rnn_steps(plan, state->data, stepArgs.data(), state->data, nullptr, nullptr)),
            "rnn_steps: argument `workspace` overlaps `state`");
  size_t bytes = 0;
  EXPECT_EQ(error(rnn_state_save(plan, state->data, nullptr, nullptr)),
            "rnn_state_save: argument `bytes` is null");
  ASSERT_EQ(rnn_state_save(plan, state->data, nullptr, &bytes), RNN_OK);
  EXPECT_EQ(bytes, 24u + 2 * 2 * 5 * 4); // header, two states of ten lanes
  std::vector<unsigned char> saved(bytes);
  bytes -= 1;
  EXPECT_EQ(error(rnn_state_save(plan, state->data, saved.data(), &bytes)),
            "rnn_state_save: argument `bytes` is 103, but 104 are needed");
  EXPECT_EQ(error(rnn_state_restore(plan, state->data, args.data(), nullptr, 104)),
            "rnn_state_restore: argument `from` is null");
}

TEST_F(StreamErrors, AStateThatIsNotThePlans) {
  rnn_plan* other = make(5, 7, 0);
  EXPECT_EQ(error(rnn_state_init(other, state->data, args.data())),
            "rnn_state_init: the plan is not for streaming; set `streaming` in rnn_plan_options");
  size_t bytes = 1;
  ASSERT_EQ(rnn_plan_sizes(other, nullptr, nullptr, &bytes), RNN_OK);
  EXPECT_EQ(bytes, 0u);
  rnn_plan_destroy(other);
  EXPECT_EQ(error(rnn_step(plan, state->data, stepArgs.data(), nullptr)),
            "rnn_step: argument `state` holds no sequence; begin one with rnn_state_init");
  ASSERT_EQ(rnn_state_init(plan, state->data, args.data()), RNN_OK);
  std::vector<unsigned char> saved(104);
  bytes = saved.size();
  ASSERT_EQ(rnn_state_save(plan, state->data, saved.data(), &bytes), RNN_OK);
  rnn_plan* transposed = make(2, 7, 1, 5); // as many numbers
  size_t needed;
  rnn_plan_sizes(transposed, nullptr, nullptr, &needed);
  Workspace room(needed);
  const std::string mixed = ": argument `from` is of another cell, or of other dims, batch or "
                            "compute type than the plan";
  EXPECT_EQ(error(rnn_state_restore(transposed, room.data, args.data(), saved.data(), bytes)),
            "rnn_state_restore" + mixed);
  rnn_plan_destroy(transposed);
  EXPECT_EQ(error(rnn_state_restore(plan, state->data, args.data(), saved.data(), 103)),
            "rnn_state_restore: argument `from` has 103 bytes, a state of this plan has 104");
  std::reverse(saved.begin(), saved.begin() + 8);
  EXPECT_EQ(error(rnn_state_restore(plan, state->data, args.data(), saved.data(), bytes)),
            "rnn_state_restore: argument `from` was not written by rnn_state_save on a machine of "
            "this byte order");
  std::reverse(saved.begin(), saved.begin() + 8);
  EXPECT_EQ(rnn_state_restore(plan, state->data, args.data(), saved.data(), bytes), RNN_OK);
}

TEST_F(StreamErrors, Arguments) {
  ASSERT_EQ(rnn_state_init(plan, state->data, args.data()), RNN_OK);
  EXPECT_EQ(error(rnn_step(plan, state->data, args.data(), nullptr)),
            "argument 7 (initial state s0): the sequence has begun, and goes on from `state`; give "
            "no data here, or begin anew with rnn_state_init");
  EXPECT_EQ(error(rnn_steps(plan, state->data, stepArgs.data(), workspace->data, nullptr, nullptr)),
            "argument 0 (input x0): shape is [2, 1, 5], the plan has [2, 7, 5]");
  stepArgs[4].data = state->data;
  EXPECT_EQ(error(rnn_step(plan, state->data, stepArgs.data(), nullptr)),
            "argument 4 (state s0): overlaps the state or the workspace");
  stepArgs[4].data = stepArgs[5].data;
  EXPECT_EQ(error(rnn_step(plan, state->data, stepArgs.data(), nullptr)),
            "argument 5 (state s1): overlaps argument 4 (state s0); results need memory of their "
            "own");
  args[2].data = nullptr;
  EXPECT_EQ(error(rnn_state_init(plan, state->data, args.data())),
            "argument 2 (param p0): data is null, but it is required");
}

} // namespace
} // namespace rnnc::test
