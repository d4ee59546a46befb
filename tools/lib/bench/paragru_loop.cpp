// ParaGRU as one writes it by hand: the loop over time in C++ with libm. What tools/bench compares
// rnnc's kernels with.
//
//   paragru_loop BATCH TIME WIDTH    prints {"median_seconds": ..., "steps_per_second": ...}
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

struct Problem {
  size_t batch, time, width;
  std::vector<float> xz, xr, xn, az, ar, an, h; // inputs and h: (batch, time, width)
};

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

void solve(Problem& p) {
  std::vector<float> state(p.width);
  for (size_t b = 0; b < p.batch; ++b) {
    std::fill(state.begin(), state.end(), 0.f);
    for (size_t t = 0; t < p.time; ++t) {
      size_t row = (b * p.time + t) * p.width;
      for (size_t i = 0; i < p.width; ++i) {
        float h = state[i];
        float z = sigmoid(p.az[i] * h + p.xz[row + i]);
        float r = sigmoid(p.ar[i] * h + p.xr[row + i]);
        float n = std::tanh(p.an[i] * (r * h) + p.xn[row + i]);
        state[i] = p.h[row + i] = (1 - z) * h + z * n;
      }
    }
  }
}

Problem makeProblem(size_t batch, size_t time, size_t width) {
  std::mt19937_64 engine(0);
  auto draw = [&](size_t n, float deviation) {
    std::normal_distribution<float> normal(0, deviation);
    std::vector<float> values(n);
    std::generate(values.begin(), values.end(), [&] { return normal(engine); });
    return values;
  };
  size_t n = batch * time * width;
  return {batch,
          time,
          width,
          draw(n, 1),
          draw(n, 1),
          draw(n, 1),
          draw(width, 0.3f),
          draw(width, 0.3f),
          draw(width, 0.3f),
          std::vector<float>(n)};
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: paragru_loop BATCH TIME WIDTH\n");
    return 2;
  }
  size_t sizes[3];
  for (int i = 0; i < 3; ++i)
    sizes[i] = std::strtoull(argv[i + 1], nullptr, 10);
  Problem problem = makeProblem(sizes[0], sizes[1], sizes[2]);

  std::vector<double> seconds;
  for (int repeat = 0; repeat < 7; ++repeat) {
    auto start = std::chrono::steady_clock::now();
    solve(problem);
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    seconds.push_back(took.count());
  }
  std::sort(seconds.begin(), seconds.end());
  double median = seconds[seconds.size() / 2];
  double steps = static_cast<double>(sizes[0] * sizes[1]) * static_cast<double>(sizes[2]);
  double sum = 0; // what is computed has to be used
  for (float value : problem.h)
    sum += value;
  std::printf("{\"median_seconds\": %.9g, \"steps_per_second\": %.9g, \"sum\": %.9g}\n", median,
              steps / median, sum);
}
