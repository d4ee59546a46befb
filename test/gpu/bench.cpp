// Forward on the device: how long, next to a device copy of as many bytes, and to PyTorch's loop
// over time where tools/gpu has measured it. One table.
#include "cases.hpp"

#include "data/Random.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>

using namespace gpu;

namespace {

struct Shape {
  std::string module; ///< "paragru_f32"
  std::string dim;    ///< whose size is `width`
  int64_t batch, time, width;
};

/// Lines of `benches`: MODULE DIM BATCH TIME WIDTH.
std::vector<Shape> readShapes(const std::string& path) {
  std::vector<Shape> shapes;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Shape shape;
    if (words >> shape.module >> shape.dim >> shape.batch >> shape.time >> shape.width) {
      shapes.push_back(shape);
    }
  }
  if (shapes.empty()) {
    throw Trouble(path + ": no benches");
  }
  return shapes;
}

/// Milliseconds of PyTorch's loop, by "MODULE BATCH TIME WIDTH": lines of these and the median.
std::map<std::string, double> readTorch(const char* path) {
  std::map<std::string, double> found;
  std::ifstream file(path ? path : "");
  for (std::string module, batch, time, width, milliseconds;
       file >> module >> batch >> time >> width >> milliseconds;) {
    found[module + " " + batch + " " + time + " " + width] = std::atof(milliseconds.c_str());
  }
  return found;
}

/// Numbers around 0; what they are changes nothing about the time but the sweeps.
rnnc::data::HostArray drawn(const rnn_tensor& like, rnn_dtype type, unsigned seed) {
  auto array =
      rnnc::data::randomArray({.name = {}, .first = 0, .second = 0.3, .cut = 0.9}, seed,
                              type == RNN_F64 ? rnnc::data::DType::F64 : rnnc::data::DType::F32,
                              std::vector<int64_t>(like.shape, like.shape + like.rank));
  if (!array) {
    throw Trouble(array.error().text);
  }
  return std::move(*array);
}

struct Times {
  double p50 = 0, p95 = 0, p99 = 0; ///< milliseconds
};

/// By events around each call, after a warm-up; calls go through `sets` in turn, so that none finds
/// its arrays in a cache.
template <class Work>
Times measure(size_t sets, const Work& work) {
  Device& device = Device::get();
  const int warm = isQuick() ? 1 : 10, calls = isQuick() ? 3 : 200;
  EventRef before = nullptr, after = nullptr;
  device.check(device.more().cuEventCreate(&before, 0), "making an event");
  device.check(device.more().cuEventCreate(&after, 0), "making an event");
  std::vector<double> milliseconds;
  double total = 0;
  for (int i = 0; i < warm + calls && total < 3000; ++i) {
    device.check(device.more().cuEventRecord(before, device.stream()), "recording an event");
    work(i % sets);
    device.check(device.more().cuEventRecord(after, device.stream()), "recording an event");
    device.synchronise();
    float taken = 0;
    device.check(device.more().cuEventElapsedTime(&taken, before, after), "reading an event");
    if (i >= warm) {
      milliseconds.push_back(taken);
      total += taken;
    }
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  const auto at = [&](double part) {
    return milliseconds[static_cast<size_t>(part * (milliseconds.size() - 1) + 0.5)];
  };
  return {at(0.5), at(0.95), at(0.99)};
}

/// A call with arrays that are drawn.
std::unique_ptr<Call> callFor(const Shape& shape, rnn_schedule schedule, unsigned seed) {
  Case of;
  of.name = of.module = shape.module;
  of.dtype = shape.module.ends_with("_f64") ? RNN_F64 : RNN_F32;
  of.batch = shape.batch;
  of.time = shape.time;
  of.dims[shape.dim] = shape.width;
  of.draw = [&](const rnn_tensor& like) { return drawn(like, of.dtype, ++seed); };
  return std::make_unique<Call>(of, schedule, -1);
}

void benchOne(const Shape& shape, rnn_schedule schedule,
              const std::map<std::string, double>& torch) {
  Device& device = Device::get();
  constexpr size_t cache = size_t(256) << 20; // more than any device has, and room for few sets
  std::vector<std::unique_ptr<Call>> sets;
  sets.push_back(callFor(shape, schedule, 1));
  const size_t bytes = sets[0]->bytes();
  const size_t needed =
      isQuick() ? 1 : std::min<size_t>(16, 1 + cache / std::max<size_t>(bytes, 1));
  while (sets.size() < needed) {
    sets.push_back(callFor(shape, schedule, unsigned(sets.size() + 1)));
  }
  const Times forward = measure(sets.size(), [&](size_t i) { sets[i]->forward(); });
  const rnn_plan_info info = sets[0]->info();
  const rnn_report report = sets[0]->report();
  sets.clear();

  // A copy reads a half of the bytes and writes the other.
  const size_t half = (bytes / 2 + 3) & ~size_t(3);
  std::vector<Memory> memory;
  for (size_t i = 0; i < 2 * needed; ++i) {
    memory.emplace_back(half);
  }
  const Times copy = measure(needed, [&](size_t i) {
    device.check(
        device.more().cuMemcpyDtoDAsync(reinterpret_cast<driver::Address>(memory[2 * i].data()),
                                        reinterpret_cast<driver::Address>(memory[2 * i + 1].data()),
                                        half, device.stream()),
        "copying");
  });
  const std::string key = shape.module + " " + std::to_string(shape.batch) + " " +
                          std::to_string(shape.time) + " " + std::to_string(shape.width);
  const auto found = torch.find(key);
  char policy[64], eager[64];
  std::snprintf(policy, sizeof(policy), info.chunks > 1 ? "%lld x %lld" : "W = 1",
                static_cast<long long>(info.chunks), static_cast<long long>(info.chunk));
  if (found == torch.end()) {
    std::snprintf(eager, sizeof(eager), "not measured");
  } else {
    std::snprintf(eager, sizeof(eager), "%.3g ms, %.3gx", found->second,
                  found->second / forward.p50);
  }
  std::printf(
      "| %s | %lld x %lld x %lld | %s | %.1f | %.4f | %.4f | %.4f | %.1f | %.0f | %.2f | %s |\n",
      shape.module.c_str(), static_cast<long long>(shape.batch), static_cast<long long>(shape.time),
      static_cast<long long>(shape.width), policy, report.lane_sweeps_mean, forward.p50,
      forward.p95, forward.p99, bytes / 1048576., bytes / forward.p50 * 1e-6,
      copy.p50 / forward.p50, eager);
  std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
  try {
    Device& device = Device::get();
    const auto torch = readTorch(argc > 1 ? argv[1] : nullptr);
    std::printf("%s, sm_%d, driver for CUDA %s; events around each call, after a warm-up, over "
                "arrays that no cache holds\n\n",
                device.name().c_str(), device.architecture(),
                rnnc::runtime::cuda::versionText(device.driver().version).c_str());
    std::printf("| module | batch x time x width | W x C | sweeps | p50 ms | p95 ms | p99 ms "
                "| MiB | GB/s | of a copy | PyTorch's loop |\n"
                "|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (const Shape& shape : readShapes(folder() + "/benches")) {
      for (rnn_schedule schedule : {RNN_SCHEDULE_AUTO, RNN_SCHEDULE_SEQUENTIAL}) {
        benchOne(shape, schedule, torch);
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
