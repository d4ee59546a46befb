// Every argument is checked, and the text says which and why.
#include "harness.hpp"

#include <functional>
#include <gtest/gtest.h>

namespace rnnc::test {
namespace {

std::string moduleError(const std::function<void(Table&)>& change,
                        rnn_status expected = RNN_INVALID_ARGUMENT,
                        const char* cell = "triangular") {
  Table table(cellNamed(cell));
  change(table);
  ModuleHandle module(table.get());
  EXPECT_EQ(module.status, expected);
  EXPECT_EQ(module.module, nullptr);
  return rnn_error_text(module.context);
}

TEST(Module, CudaErrors) {
  const auto with = [](const std::function<void(rnn_cuda_desc&, rnn_cuda_unit&)>& change) {
    return moduleError([&](Table& t) {
      static rnn_cuda_entry entry{"kernel", 32, 8, 4, 0, 0};
      static rnn_cuda_unit unit;
      static rnn_cuda_desc desc;
      unit = {"unit.cu", "text", 90, RNN_F32, RNN_SCHEDULE_AUTO, 1, &entry};
      desc = {sizeof(desc), 1, &unit, nullptr, nullptr};
      change(desc, unit);
      t.table.cuda = &desc;
    });
  };
  EXPECT_EQ(with([](auto& desc, auto&) { desc.size = 4; }),
            "module triangular: `cuda`: size is 4, this runtime needs " +
                std::to_string(sizeof(rnn_cuda_desc)));
  EXPECT_EQ(with([](auto& desc, auto&) { desc.unit = nullptr; }),
            "module triangular: `cuda`: `unit` is null, but there are 1");
  const char* const lacks = "module triangular: `cuda`: unit 0 lacks a name, its text, or an entry "
                            "for each of 1 systems";
  EXPECT_EQ(with([](auto&, auto& unit) { unit.name = nullptr; }), lacks);
  EXPECT_EQ(with([](auto&, auto& unit) { unit.text = nullptr; }), lacks);
  EXPECT_EQ(with([](auto&, auto& unit) { unit.entry = nullptr; }), lacks);
  EXPECT_EQ(with([](auto&, auto& unit) { unit.entries = 2; }), lacks);
}

TEST(Module, TableErrors) {
  EXPECT_EQ(moduleError([](Table& t) { t.table.abi_version = 7; }),
            "module table: ABI version 7, this runtime has 3; build the module again");
  EXPECT_EQ(moduleError([](Table& t) { t.table.size = 16; }),
            "module table: size is 16, this runtime needs " +
                std::to_string(offsetof(rnn_module_table, cuda)));
  EXPECT_EQ(moduleError([](Table& t) { t.table.cell = nullptr; }), "module table: `cell` is null");
  EXPECT_EQ(moduleError([](Table& t) { t.table.tensor = nullptr; }),
            "module triangular: `tensor` is null");
  EXPECT_EQ(moduleError([](Table& t) { t.table.systems = 0; }),
            "module triangular: there is no system");
  EXPECT_EQ(moduleError([](Table& t) { t.tensors[1].name = "x0"; }),
            "module triangular: two tensors are called x0");
  EXPECT_EQ(moduleError([](Table& t) { t.tensors[1].name = ""; }),
            "module triangular: tensor 1 has no name");
  EXPECT_EQ(moduleError([](Table& t) { t.tensors[0].hidden = 1; }),
            "module triangular: tensor x0 is hidden, but no state");
  EXPECT_EQ(moduleError([](Table& t) { t.tensors[0].rank = 9; }),
            "module triangular: tensor x0: rank 9 is above 6");
  EXPECT_EQ(moduleError([](Table& t) { t.tensors[0].sizes = nullptr; }),
            "module triangular: tensor x0: `dims` or `sizes` is null");
  EXPECT_EQ(moduleError([](Table& t) {
              static const int64_t size = 4;
              t.tensors[1].sizes = &size;
            }),
            "module triangular: x1: dim d has size 4, elsewhere -1 (-1: bound by the plan)");
}

TEST(Module, SlotErrors) {
  const std::string where = "module triangular, system triangular: ";
  EXPECT_EQ(moduleError([](Table& t) { t.inputs[1].tensor = 99; }),
            where + "input slot 1: tensor 99 of 7");
  EXPECT_EQ(moduleError([](Table& t) { t.inputs[1].tensor = 2; }),
            where + "input slot 1: tensor p0 has another role");
  EXPECT_EQ(moduleError([](Table& t) { t.inputs[0].lane_axis[0] = 3; }),
            where + "input slot 0: lane axis 3 of 1");
  EXPECT_EQ(moduleError([](Table& t) { t.params[0].back = 2; }),
            where + "param slot 0: only inputs can be delayed");
  EXPECT_EQ(moduleError([](Table& t) { t.outputs[0].back = 2; }),
            where + "output slot 0: only inputs can be delayed");
  EXPECT_EQ(moduleError([](Table& t) { t.states[0].back = 1; }),
            where + "state slot 0: only inputs can be delayed");
  EXPECT_EQ(moduleError([](Table& t) { t.states[0].lane_axis[0] = -1; }),
            where + "state slot 0: does not use lane axis d, so lanes would share a place");
  EXPECT_EQ(moduleError([](Table& t) { t.states[1].tensor = t.states[0].tensor; }),
            "module triangular: two slots write to the same place of s0");
  EXPECT_EQ(moduleError([](Table& t) { t.system.input_slots = nullptr; }),
            where + "`input_slots` is null");
  EXPECT_EQ(moduleError([](Table& t) { t.system.states = 0; }), where + "there is no state");
}

TEST(Module, CarryAndKernelErrors) {
  const std::string where = "module triangular, system triangular: ";
  EXPECT_EQ(moduleError([](Table& t) { t.carry[0].row = 1; }),
            where + "`carry_place` is not a row-major list of places in a 2 x 2 block");
  EXPECT_EQ(moduleError([](Table& t) { t.carry[2].column = 2; }),
            where + "`carry_place` is not a row-major list of places in a 2 x 2 block");
  EXPECT_EQ(moduleError([](Table& t) { t.system.carry_places = t.system.carry = 2; }),
            where + "`carry_place` lacks (1, 1)");
  EXPECT_EQ(moduleError([](Table& t) { t.system.carry = 2; }),
            where + "`carry_place` has 3 numbers, `carry` says 2");
  EXPECT_EQ(moduleError([](Table& t) { t.carry[1].sign = -1; }),
            where +
                "`carry_place` has number 1 with sign -1 at (1, 0); numbers count from 0 by first "
                "places, whose sign is 1");
  EXPECT_EQ(moduleError([](Table& t) { t.carry[1].number = 2; }),
            where +
                "`carry_place` has number 2 with sign 1 at (1, 0); numbers count from 0 by first "
                "places, whose sign is 1");
  EXPECT_EQ(moduleError([](Table& t) { t.system.carry_place = nullptr; }),
            where + "`carry_place` is null");
  EXPECT_EQ(moduleError([](Table& t) { t.kernels[0].shoot = nullptr; }),
            where + "kernel 0: a function is null and there is no `resolve`");
  EXPECT_EQ(moduleError([](Table& t) { t.kernels[1].width = 4; }),
            where + "kernel 1: not sorted by compute type, then width");
  EXPECT_EQ(moduleError([](Table& t) { t.kernels[0].width = 0; }),
            where + "kernel 0: width 0 is not in 1..4096");
  EXPECT_EQ(moduleError([](Table& t) { t.kernels[0].compute = RNN_F16; }),
            where + "kernel 0: `compute` is neither f32 nor f64");
  EXPECT_EQ(moduleError([](Table& t) { t.system.kernels = 0; }), where + "there is no kernel");
  EXPECT_EQ(moduleError([](Table& t) { t.system.cost.step_latency = -1; }),
            where + "`cost` holds -1");
  // The diagonal holds 1 in the identity, no other place does; signs are those of a product.
  const auto whole = [](Table& t, std::vector<rnn_carry_place> places) {
    t.carry = std::move(places);
    t.system.carry = t.carry.back().number + 1;
    t.system.carry_places = static_cast<uint32_t>(t.carry.size());
    t.system.carry_place = t.carry.data();
  };
  EXPECT_EQ(moduleError([&](Table& t) { whole(t, {{0, 0, 0, 1}, {1, 0, 0, 1}, {1, 1, 1, 1}}); }),
            where + "`carry_place` has number 0 at (0, 0) and (1, 0), where the identity or a "
                    "product of two such matrices differs");
  EXPECT_EQ(moduleError([&](Table& t) { whole(t, {{0, 0, 0, 1}, {1, 1, 0, -1}}); }),
            where + "`carry_place` has number 0 at (0, 0) and (1, 1), where the identity or a "
                    "product of two such matrices differs");
  // (0,1) and (1,2) ask for (0,2).
  EXPECT_EQ(moduleError(
                [&](Table& t) {
                  whole(t, {{0, 0, 0, 1},
                            {0, 1, 1, 1},
                            {1, 1, 2, 1},
                            {1, 2, 3, 1},
                            {2, 2, 4, 1},
                            {3, 3, 5, 1}});
                },
                RNN_INVALID_ARGUMENT, "ladder"),
            "module ladder, system ladder: `carry_place` lacks (0, 2), which a product of two such "
            "matrices has");
}

TEST(Module, NullArguments) {
  EXPECT_EQ(rnn_context_create(nullptr), RNN_INVALID_ARGUMENT);
  EXPECT_STREQ(rnn_error_text(nullptr), "rnn_context_create: argument `out` is null");
  rnn_module* module;
  EXPECT_EQ(rnn_module_from_table(nullptr, nullptr, &module), RNN_INVALID_ARGUMENT);
  EXPECT_STREQ(rnn_error_text(nullptr), "rnn_module_from_table: argument `context` is null");
  EXPECT_EQ(rnn_forward(nullptr, nullptr, nullptr, nullptr, nullptr), RNN_INVALID_ARGUMENT);
  EXPECT_STREQ(rnn_error_text(nullptr), "rnn_forward: argument `plan` is null");
  rnn_module_destroy(nullptr);
  rnn_plan_destroy(nullptr);
  rnn_context_destroy(nullptr);
}

TEST(Module, SignatureListsArgs) {
  Table::Options options;
  options.hideFirst = true;
  Table table(cellNamed("triangular"), options);
  ModuleHandle module(table.get());
  ASSERT_EQ(module.status, RNN_OK);
  const rnn_signature* signature;
  ASSERT_EQ(rnn_module_describe(module.module, &signature), RNN_OK);
  std::string list;
  for (uint32_t i = 0; i < signature->args; ++i) {
    list += std::to_string(signature->arg[i].kind) +
            signature->table->tensor[signature->arg[i].tensor].name + " ";
  }
  EXPECT_EQ(list, "0x0 0x1 1p0 1p1 2s1 2y0 3s0 3s1 4s0 4s1 ");
}

/// Plans and runs "triangular" with d = 5, T = 7, batch 2; a test changes what it likes.
class Forward : public testing::Test {
protected:
  Forward() : table(cellNamed("triangular")), module(table.get()) {
    options = planOptions();
    options.dims = 1;
    options.dim = &dim;
    options.batch = 2;
    options.time = 7;
    const std::vector<int64_t> sequence = {2, 7, 5}, state = {2, 5};
    for (int i = 0; i < 2; ++i) {
      arrays.emplace_back(sequence, 1, Layout::Contiguous, RNN_F32);
    }
    arrays.emplace_back(std::vector<int64_t>{5}, -1, Layout::Contiguous, RNN_F32);
    arrays.emplace_back(std::vector<int64_t>{}, -1, Layout::Contiguous, RNN_F32);
    for (int i = 0; i < 3; ++i) {
      arrays.emplace_back(sequence, 1, Layout::Contiguous, RNN_F32);
    }
    for (int i = 0; i < 4; ++i) {
      arrays.emplace_back(state, -1, Layout::Contiguous, RNN_F32);
    }
    for (Array& array : arrays) {
      std::fill(array.bytes.begin(), array.bytes.end(), 0);
      args.push_back(array.tensor);
    }
  }
  ~Forward() override { rnn_plan_destroy(plan); }

  std::string planError(rnn_status expected = RNN_INVALID_ARGUMENT) {
    EXPECT_EQ(rnn_plan_create(module.module, &options, &plan), expected);
    EXPECT_EQ(plan, nullptr);
    return rnn_error_text(module.context);
  }

  std::string run(rnn_status expected = RNN_INVALID_ARGUMENT, void* stream = nullptr) {
    if (!plan && rnn_plan_create(module.module, &options, &plan) != RNN_OK) {
      return rnn_error_text(module.context);
    }
    size_t bytes;
    rnn_plan_sizes(plan, &bytes, nullptr, nullptr);
    Workspace workspace(bytes);
    const rnn_status status =
        rnn_forward(plan, args.data(), memory ? memory : workspace.data, nullptr, stream);
    EXPECT_EQ(status, expected);
    return status == RNN_OK ? "" : rnn_error_text(module.context);
  }

  Table table;
  ModuleHandle module;
  rnn_dim_value dim = {"d", 5};
  rnn_plan_options options{};
  std::vector<Array> arrays;
  std::vector<rnn_tensor> args;
  rnn_plan* plan = nullptr;
  void* memory = nullptr;
};

TEST_F(Forward, DimErrors) {
  dim.name = "e";
  EXPECT_EQ(planError(), "dim e: the module has no such dim (it has d)");
  dim = {"d", -2};
  EXPECT_EQ(planError(), "dim d: size -2 is negative");
  options.dims = 0;
  EXPECT_EQ(planError(), "dim d has no size; give one in `dim`");
  const rnn_dim_value twice[] = {{"d", 3}, {"d", 4}};
  options.dims = 2;
  options.dim = twice;
  EXPECT_EQ(planError(), "dim d: two sizes were given, 3 and 4");
  options.dim = nullptr;
  EXPECT_EQ(planError(), "`dim` is null, but `dims` is 2");
}

TEST_F(Forward, OptionErrors) {
  auto with = [&](auto change) {
    const rnn_plan_options saved = options;
    change(options);
    const std::string text = planError();
    options = saved;
    return text;
  };
  EXPECT_EQ(with([](auto& o) { o.size = 0; }),
            "rnn_plan_options: `size` is 0; set it to sizeof(rnn_plan_options)");
  EXPECT_EQ(with([](auto& o) { o.batch = -1; }), "batch is -1; it cannot be negative");
  EXPECT_EQ(with([](auto& o) { o.time = -3; }), "time is -3; it cannot be negative");
  EXPECT_EQ(with([](auto& o) { o.compute = RNN_BF16; }), "compute: only f32 and f64 are possible");
  EXPECT_EQ(with([](auto& o) { o.chunks = -1; }),
            "chunks is -1; it cannot be negative (0: chosen for you)");
  EXPECT_EQ(with([](auto& o) { o.tolerance = NAN; }), "tolerance is not finite");
  EXPECT_EQ(with([](auto& o) { o.threads = -1; }), "threads is -1; it must be in 0..4096 (0: all)");
  EXPECT_EQ(with([](auto& o) {
              o.schedule = RNN_SCHEDULE_SEQUENTIAL;
              o.chunk = 4;
            }),
            "chunk has no meaning in the sequential schedule");
  EXPECT_EQ(with([](auto& o) {
              o.schedule = RNN_SCHEDULE_SEQUENTIAL;
              o.vector = RNN_VECTOR_CHUNKS;
            }),
            "vector = chunks has no meaning in the sequential schedule");
  EXPECT_EQ(with([](auto& o) {
              o.vector = RNN_VECTOR_CHUNKS;
              o.chunks = 18;
            }),
            "chunks = 18: vectors of chunks have 4, 16 columns in system triangular; choose a "
            "multiple of a width, or fewer chunks than columns");
  EXPECT_EQ(with([](auto& o) {
              o.chunk = INT64_MAX / 2;
              o.chunks = 16;
            }),
            "chunk x chunks is too large: 4611686018427387903 x 16 does not fit in 63 bits");
  EXPECT_EQ(with([](auto& o) { o.batch = INT64_MAX / 2; }),
            "batch x time is too large: 4611686018427387903 x 7 does not fit in 63 bits");
}

TEST_F(Forward, SequentialOnlySystems) {
  table.system.carry = 0;
  options.schedule = RNN_SCHEDULE_PARALLEL;
  EXPECT_EQ(planError(RNN_UNSUPPORTED),
            "schedule = parallel: the Jacobian block of triangular is too large; only the "
            "sequential schedule is possible");
  options.schedule = RNN_SCHEDULE_AUTO;
  EXPECT_EQ(run(RNN_OK), "");
}

TEST_F(Forward, NoKernelsOfTheType) {
  table.system.kernels = 2;
  options.compute = RNN_F64;
  EXPECT_EQ(planError(RNN_UNSUPPORTED), "compute: the module has no f64 kernels");
}

TEST_F(Forward, TensorErrors) {
  EXPECT_EQ(run(RNN_OK), "");
  auto with = [&](size_t arg, auto change, rnn_status status = RNN_INVALID_ARGUMENT) {
    const rnn_tensor saved = args[arg];
    change(args[arg]);
    const std::string text = run(status);
    args[arg] = saved;
    return text;
  };
  EXPECT_EQ(with(2, [](auto& t) { t.shape[0] = 128; }),
            "argument 2 (param p0): shape is [128], the plan has [5]");
  EXPECT_EQ(with(0, [](auto& t) { t.rank = 2; }),
            "argument 0 (input x0): rank is 2, the plan has 3, [2, 7, 5]");
  EXPECT_EQ(with(1, [](auto& t) { t.data = nullptr; }),
            "argument 1 (input x1): data is null, but it is required");
  EXPECT_EQ(with(1, [](auto& t) { t.dtype = RNN_U8; }),
            "argument 1 (input x1): dtype is u8, which is for masks alone");
  EXPECT_EQ(with(4, [](auto& t) { t.strides[1] = 0; }),
            "argument 4 (state s0): its strides [35, 0, 1] let elements overlap; a result needs a "
            "place for each");
  EXPECT_EQ(with(6, [](auto& t) { t.strides[0] = INT64_MAX / 2; }),
            "argument 6 (output y0): its strides reach beyond the address space");
  EXPECT_EQ(with(7, [](auto& t) { t.data = static_cast<char*>(t.data) + 1; }),
            "argument 7 (initial state s0): data is not aligned to the 4 bytes of an element");
  EXPECT_EQ(with(5, [&](auto& t) { t.data = args[0].data; }),
            "argument 5 (state s1): overlaps argument 0 (input x0); results need memory of their "
            "own");
  EXPECT_EQ(with(10, [&](auto& t) { t.data = args[8].data; }),
            "argument 10 (final state s1): overlaps argument 8 (initial state s1); results need "
            "memory of their own");
  for (size_t optional : {4, 5, 6, 7, 8, 9, 10}) {
    EXPECT_EQ(with(optional, [](auto& t) { t = rnn_tensor{}; }, RNN_OK), "");
  }
}

TEST_F(Forward, WorkspaceErrors) {
  EXPECT_EQ(run(RNN_OK), "");
  size_t bytes;
  ASSERT_EQ(rnn_plan_sizes(plan, &bytes, nullptr, nullptr), RNN_OK);
  Workspace workspace(bytes + 64);
  memory = static_cast<char*>(workspace.data) + 8;
  EXPECT_EQ(run(), "rnn_forward: argument `workspace` is not aligned to 64 bytes");
  memory = workspace.data;
  args[2].data = static_cast<char*>(workspace.data) + bytes - 20;
  EXPECT_EQ(run(), "argument 2 (param p0): overlaps the workspace");
  args[2] = arrays[2].tensor;
  EXPECT_EQ(run(RNN_INVALID_ARGUMENT, &bytes),
            "rnn_forward: argument `stream` must be null on the CPU");
  rnn_report report{};
  report.size = sizeof(report);
  std::memset(workspace.data, 1, bytes);
  EXPECT_EQ(rnn_report_read(plan, workspace.data, &report), RNN_INVALID_ARGUMENT);
  EXPECT_STREQ(rnn_error_text(module.context),
               "rnn_report_read: the workspace holds no report; run rnn_forward first");
}

// Structs say their size: an older caller's is shorter, a newer one's longer.
TEST_F(Forward, StructsOfOtherVersions) {
  struct Longer {
    rnn_plan_options options;
    int64_t unknown;
  } longer{options, 0};
  longer.options.size = sizeof(Longer);
  ASSERT_EQ(rnn_plan_create(module.module, &longer.options, &plan), RNN_OK);
  rnn_plan_destroy(plan);
  plan = nullptr;
  longer.unknown = 1;
  EXPECT_EQ(rnn_plan_create(module.module, &longer.options, &plan), RNN_UNSUPPORTED);
  EXPECT_STREQ(rnn_error_text(module.context),
               "rnn_plan_options: a member that this runtime does not know is set");
  ASSERT_EQ(run(RNN_OK), "");
  rnn_plan_info info{};
  info.tolerance = 77;
  info.size = offsetof(rnn_plan_info, tolerance);
  ASSERT_EQ(rnn_plan_describe(plan, &info), RNN_OK);
  EXPECT_EQ(info.lanes, 10);
  EXPECT_EQ(info.tolerance, 77);
}

// Kernels whose pointers are null come from `resolve`, only those that the schedule uses.
struct Resolver {
  const CellInfo* cell;
  std::vector<std::string> asked;
  static rnn_shoot_fn resolve(void* context, uint32_t system, uint32_t kernel, uint32_t jacobian) {
    auto* self = static_cast<Resolver*>(context);
    self->asked.push_back(std::to_string(system) + " " + std::to_string(kernel) + " " +
                          std::to_string(jacobian));
    if (!self->cell) {
      return nullptr;
    }
    const rnn_cpu_kernel& k = self->cell->kernels[kernel];
    return jacobian ? k.shoot_jacobian : k.shoot;
  }
};

TEST_F(Forward, KernelsAreResolved) {
  Resolver resolver{&cellNamed("triangular"), {}};
  Table lazy(cellNamed("triangular"));
  for (rnn_cpu_kernel& kernel : lazy.kernels) {
    kernel.shoot = kernel.shoot_jacobian = nullptr;
  }
  lazy.table.resolve = Resolver::resolve;
  lazy.table.resolve_context = &resolver;
  ModuleHandle handle(lazy.get());
  ASSERT_EQ(handle.status, RNN_OK);
  options.schedule = RNN_SCHEDULE_SEQUENTIAL;
  ASSERT_EQ(rnn_plan_create(handle.module, &options, &plan), RNN_OK);
  for (const std::string& asked : resolver.asked) {
    EXPECT_EQ(asked.back(), '0') << "the sequential schedule needs no Jacobian";
  }
  rnn_plan_destroy(plan);
  plan = nullptr;
  resolver.cell = nullptr;
  EXPECT_EQ(rnn_plan_create(handle.module, &options, &plan), RNN_INTERNAL);
}

// A tensor of which some elements are computed by nobody would be returned unwritten.
TEST_F(Forward, EveryResultIsComputed) {
  Table::Options o;
  o.blockState = true;
  Table block(cellNamed("triangular"), o);
  static const int64_t sizes[] = {-1, 3};
  block.tensors[block.states[0].tensor].sizes = sizes;
  ModuleHandle handle(block.get());
  ASSERT_EQ(handle.status, RNN_OK);
  EXPECT_EQ(rnn_plan_create(handle.module, &options, &plan), RNN_INVALID_ARGUMENT);
  EXPECT_STREQ(rnn_error_text(handle.context),
               "module triangular: 10 of 15 elements of s are computed");
}

} // namespace
} // namespace rnnc::test
