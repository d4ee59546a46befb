// What CUDA cannot do yet is refused by name, and a plan for it never runs on the CPU instead.
#include "mock.hpp"
#include "stage_tables.hpp"

namespace rnnc::test {
namespace {

struct Refusal {
  rnn_status status = RNN_OK;
  std::string text;
};

Refusal planned(EmaModule& module, const std::function<void(rnn_plan_options&)>& change) {
  rnn_plan_options options = cudaOptions();
  const rnn_dim_value dim{"d", 3};
  options.dims = 1;
  options.dim = &dim;
  options.batch = options.time = 2;
  change(options);
  rnn_plan* plan = nullptr;
  Refusal refusal;
  refusal.status = rnn_plan_create(module.module.module, &options, &plan);
  EXPECT_EQ(plan != nullptr, refusal.status == RNN_OK);
  refusal.text = refusal.status == RNN_OK ? "" : module.error();
  rnn_plan_destroy(plan);
  return refusal;
}

TEST(Unsupported, OptionsByName) {
  EmaModule module;
  const auto expect = [&](const char* text, const std::function<void(rnn_plan_options&)>& change) {
    const Refusal refusal = planned(module, change);
    EXPECT_EQ(refusal.status, RNN_UNSUPPORTED);
    EXPECT_NE(refusal.text.find(text), std::string::npos) << refusal.text;
  };
  expect("streaming on CUDA", [](auto& o) { o.streaming = 1; });
  expect("vector = chunks on CUDA", [](auto& o) { o.vector = RNN_VECTOR_CHUNKS; });
  expect("tiles = parallel on CUDA", [](auto& o) { o.tiles = RNN_TILES_PARALLEL; });
  // The module brings a unit for f32 and the schedule that it chose itself.
  expect("without a unit of CUDA for f64; build it for sm_90",
         [](auto& o) { o.compute = RNN_F64; });
  expect("and this schedule", [](auto& o) { o.schedule = RNN_SCHEDULE_SEQUENTIAL; });
  expect("and this schedule", [](auto& o) { o.chunk = 16; });
  EXPECT_EQ(planned(module, [](auto&) {}).status, RNN_OK);
}

TEST(Unsupported, AModuleForTheCpu) {
  EmaModule module;
  module.table.table.cuda = nullptr;
  const Refusal none = planned(module, [](auto&) {});
  EXPECT_EQ(none.status, RNN_UNSUPPORTED);
  EXPECT_NE(none.text.find("it was built for the CPU only"), std::string::npos) << none.text;
  // A table from before there was a CUDA part, with something else behind its end.
  module.table.table.cuda = reinterpret_cast<const rnn_cuda_desc*>(8);
  module.table.table.size = offsetof(rnn_module_table, cuda);
  EXPECT_EQ(planned(module, [](auto&) {}).text, none.text);
}

TEST(Unsupported, ADeviceIsMissingBeforeAnythingElse) {
  EmaModule module;
  module.table.table.cuda = nullptr;
  const Refusal refusal = planned(module, [](auto& o) {
    o.ordinal = 9;
    o.streaming = 1;
    o.batch = -1;
  });
  EXPECT_EQ(refusal.status, RNN_MISSING);
  EXPECT_NE(refusal.text.find("there is no CUDA device 9"), std::string::npos) << refusal.text;
}

TEST(Unsupported, ArraysOfAnotherType) {
  EmaModule module;
  EmaCall call(module, 2, 8, 5);
  call.args[0].dtype = RNN_F64;
  EXPECT_EQ(call.forward(), RNN_UNSUPPORTED);
  EXPECT_NE(module.error().find("argument 0 (input x0): on CUDA arrays have the type"),
            std::string::npos)
      << module.error();
}

TEST(Unsupported, Progress) {
  EmaModule module;
  EmaCall call(module, 2, 8, 5);
  double fraction = 0;
  EXPECT_EQ(rnn_progress_read(call.plan, call.workspace, &fraction), RNN_UNSUPPORTED);
}

TEST(Unsupported, AnUnknownDevice) {
  EmaModule module;
  const Refusal refusal = planned(module, [](auto& o) { o.device = static_cast<rnn_device>(7); });
  EXPECT_EQ(refusal.status, RNN_INVALID_ARGUMENT);
}

TEST(Unsupported, AUnitThatDoesNotFit) {
  EmaModule module("unit_too_large");
  module.unit.entry.shared_bytes = 300 << 10;
  const Refusal large = planned(module, [](auto&) {});
  EXPECT_EQ(large.status, RNN_UNSUPPORTED);
  module.unit.entry.shared_bytes = 1 << 10;
  module.unit.entry.argument_bytes += 8;
  const Refusal other = planned(module, [](auto&) {});
  EXPECT_EQ(other.status, RNN_INTERNAL);
  EXPECT_NE(other.text.find("its argument has"), std::string::npos) << other.text;
}

TEST(Unsupported, WhatIsComputedApartFromTheRecurrence) {
  ProductTable product(forms[0]);
  MockUnit unit("product_unit", 32, 8, 4, 1000, 0);
  product.get();
  product.table.cuda = &unit.desc;
  ModuleHandle module(&product.table);
  ASSERT_EQ(module.status, RNN_OK) << rnn_error_text(module.context);
  rnn_plan_options options = cudaOptions();
  rnn_plan* plan = nullptr;
  EXPECT_EQ(rnn_plan_create(module.module, &options, &plan), RNN_UNSUPPORTED);
  EXPECT_EQ(plan, nullptr);
  const std::string text = rnn_error_text(module.context);
  EXPECT_NE(text.find("Product on CUDA: what is computed apart from the recurrence, here y"),
            std::string::npos)
      << text;
}

TEST(Unsupported, PrintedOnDemand) {
  EmaModule module("printed_on_demand");
  struct Printer {
    rnn_cuda_request asked{};
    const rnn_cuda_unit* unit = nullptr;
  } printer;
  module.unit.desc.units = 0;
  module.unit.desc.context = &printer;
  module.unit.desc.print = [](void* context, const rnn_cuda_request* request, const char** why) {
    auto& printer = *static_cast<Printer*>(context);
    printer.asked = *request;
    *why = "because";
    return printer.unit;
  };
  const auto change = [](rnn_plan_options& o) {
    o.ordinal = 2;
    o.schedule = RNN_SCHEDULE_PARALLEL;
    o.chunk = 4;
    o.chunks = 8;
  };
  const Refusal refusal = planned(module, change);
  EXPECT_EQ(refusal.status, RNN_UNSUPPORTED);
  EXPECT_NE(refusal.text.find("ema on CUDA device 2 (Mock device, sm_80): because"),
            std::string::npos)
      << refusal.text;
  EXPECT_EQ(printer.asked.architecture, 80);
  EXPECT_EQ(printer.asked.schedule, RNN_SCHEDULE_PARALLEL);
  EXPECT_EQ(printer.asked.chunk, 4);
  EXPECT_EQ(printer.asked.chunks, 8);
  printer.unit = &module.unit.unit;
  EXPECT_EQ(planned(module, change).status, RNN_OK);
}

TEST(Unsupported, LanesThatFillTheMachineAreSolvedOneStepAfterTheOther) {
  EmaModule module("printed_wide");
  rnn_schedule asked = RNN_SCHEDULE_PARALLEL;
  module.unit.desc.units = 0;
  module.unit.desc.context = &asked;
  module.unit.desc.print = [](void* context, const rnn_cuda_request* request,
                              const char**) -> const rnn_cuda_unit* {
    *static_cast<rnn_schedule*>(context) = request->schedule;
    return nullptr;
  };
  planned(module, [](auto& o) { o.batch = 4 * 1024 / 3; }); // of 4 multiprocessors
  EXPECT_EQ(asked, RNN_SCHEDULE_AUTO);
  planned(module, [](auto& o) { o.batch = 4 * 1024 / 3 + 1; });
  EXPECT_EQ(asked, RNN_SCHEDULE_SEQUENTIAL);
  // A module that brings its own choice alone is run by that.
  EmaModule listed("listed_wide");
  EXPECT_EQ(planned(listed, [](auto& o) { o.batch = 4 * 1024; }).text, "");
}

} // namespace
} // namespace rnnc::test
