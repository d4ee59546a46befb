// Arrays whose elements lie further apart than 32 bits can count, and very long sequences.
#include "harness.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>

namespace rnnc::test {
namespace {

/// Zeroed memory that takes room where it is written alone.
class Sparse {
public:
  explicit Sparse(size_t bytes)
      : bytes_(bytes), data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~Sparse() {
    if (data_ != MAP_FAILED) {
      munmap(data_, bytes_);
    }
  }
  Sparse(const Sparse&) = delete;
  float* data() const { return data_ == MAP_FAILED ? nullptr : static_cast<float*>(data_); }

private:
  size_t bytes_;
  void* data_;
};

struct Call {
  Table table{cellNamed("ema")};
  ModuleHandle module{table.get()};

  /// One lane; x, h: (1, time, 1).
  std::string run(const rnn_plan_options& fixed, rnn_tensor x, rnn_tensor h, float* a) {
    const rnn_dim_value dim{"d", 1};
    rnn_plan_options options = fixed;
    options.dims = 1;
    options.dim = &dim;
    options.batch = 1;
    options.time = x.shape[1];
    rnn_plan* plan = nullptr;
    if (rnn_plan_create(module.module, &options, &plan) != RNN_OK) {
      return rnn_error_text(module.context);
    }
    size_t bytes;
    rnn_plan_sizes(plan, &bytes, nullptr, nullptr);
    Workspace workspace(bytes);
    const rnn_tensor args[] = {x, {a, RNN_F32, 1, {1}, {1}}, h, {}, {}};
    const rnn_status status = rnn_forward(plan, args, workspace.data, nullptr, nullptr);
    rnn_plan_destroy(plan);
    return status == RNN_OK ? "" : rnn_error_text(module.context);
  }
};

rnn_tensor oneLane(float* data, int64_t time, int64_t stride) {
  return {data, RNN_F32, 3, {1, time, 1}, {time * stride, stride, 1}};
}

// 2^32 elements from the first to the last, so any product of 32 bits would wrap onto another one.
// Both directions of time, as the first element in memory is another one then.
TEST(Large, ElementsTwoToThe32Apart) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "ThreadSanitizer's shadow of a sparse array takes gigabytes";
#endif
#endif
  constexpr int64_t time = 1 << 17, stride = 1 << 15;
  Sparse memory(size_t(time) * stride * sizeof(float));
  if (!memory.data()) {
    GTEST_SKIP() << "no 16 GiB of address space";
  }
  float* x = memory.data();
  float* h = x + stride / 2; // between the inputs
  std::mt19937 random(1);
  std::vector<float> values(time);
  for (int64_t t = 0; t < time; ++t) {
    values[t] = float(random() % 1024) / 1024;
    x[t * stride] = values[t];
  }
  Call call;
  float a = .5f;
  for (const Schedule& schedule : {schedules[0], schedules[3], schedules[4]}) {
    rnn_plan_options options = optionsFor(schedule);
    options.tolerance = 0;
    options.reversed = schedule.tiles == RNN_TILES_PARALLEL;
    ASSERT_EQ(call.run(options, oneLane(x, time, stride), oneLane(h, time, stride), &a), "");
    const CellInfo cell = cellNamed("ema");
    float state = call.table.tensors[call.table.states[0].tensor].fill, next, y;
    for (int64_t step = 0; step < time; ++step) {
      const int64_t t = options.reversed ? time - 1 - step : step;
      cell.step32(&state, &values[t], &a, &next, &y);
      state = next;
      ASSERT_EQ(h[t * stride], state) << t;
    }
  }
}

TEST(Large, SixteenMillionSteps) {
  constexpr int64_t time = 1 << 24;
  std::vector<float> x(time), sequential(time), parallel(time);
  std::mt19937 random(2);
  for (float& value : x) {
    value = float(random() % 4096) / 2048 - 1;
  }
  Call call;
  float a = .9f;
  ASSERT_EQ(call.run(optionsFor(schedules[0]), oneLane(x.data(), time, 1),
                     oneLane(sequential.data(), time, 1), &a),
            "");
  rnn_plan_options options = optionsFor(schedules[4]);
  options.tolerance = 0;
  ASSERT_EQ(call.run(options, oneLane(x.data(), time, 1), oneLane(parallel.data(), time, 1), &a),
            "");
  EXPECT_EQ(sequential, parallel);
}

} // namespace
} // namespace rnnc::test
