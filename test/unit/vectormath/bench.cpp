//===- bench.cpp - latency and throughput of our vector math ---------------------------------===//
//
//   vectormath_bench [function ...]          nanoseconds a vector
//   vectormath_bench --asm function width [f64] [separate]
//
//===-----------------------------------------------------------------------------------------===//

#include "Kernel.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <vector>

using namespace vectormath;

/// Median nanoseconds of one unit of `work`, which does `units`.
static double measure(int64_t units, const std::function<void()>& work) {
  std::vector<double> times;
  for (int repeat = 0; repeat < 15; ++repeat) {
    auto start = std::chrono::steady_clock::now();
    work();
    std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
    times.push_back(taken.count() / units);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

template <typename T>
struct Timing {
  double chain, map;
};

template <typename T>
static Timing<T> timeOf(Kernels& kernels, const Operation& f, int64_t width) {
  constexpr int64_t kSteps = 20000, kElements = 4096;
  int64_t lanes = std::max<int64_t>(width, 1);
  std::vector<T> h(lanes, T(.3)), c(lanes, T(-.9)), d(lanes, T(.4)), in(kElements), out(kElements);
  for (int64_t i = 0; i < kElements; ++i)
    in[i] = T(.2 + 3.0 * i / kElements);
  Chain<T> chain = kernels.chain<T>(f, {width});
  Map<T> map = kernels.map<T>(f, {width});
  return {measure(kSteps, [&] { chain(h.data(), c.data(), d.data(), kSteps); }),
          measure(kElements / lanes * 16, [&] {
            for (int i = 0; i < 16; ++i)
              map(in.data(), in.data(), out.data(), kElements);
          })};
}

/// The same chain of scalar calls; product and sum are apart, as this file is built for any
/// machine.
template <typename T>
static double libmChain(T (*f)(T)) {
  constexpr int64_t kSteps = 20000;
  volatile T c = T(-.9), d = T(.4);
  T factor = c, offset = d;
  return measure(kSteps, [&] {
    T h = T(.3);
    for (int64_t i = 0; i < kSteps; ++i)
      h = f(h * factor + offset);
    c = c + 0 * h;
  });
}

static float sigmoidf(float x) { return 1 / (1 + std::exp(-x)); }
static double sigmoidd(double x) { return 1 / (1 + std::exp(-x)); }

int main(int argc, char** argv) {
  Kernels kernels;
  std::vector<llvm::StringRef> args(argv + 1, argv + argc);
  if (args.size() >= 3 && args[0] == "--asm") {
    const Operation& f = operation(args[1]);
    int64_t width = 0;
    args[2].getAsInteger(10, width);
    bool twice = llvm::is_contained(args, "f64"), fused = !llvm::is_contained(args, "separate");
    llvm::outs() << (twice ? kernels.assembly<double>(f, {width, fused})
                           : kernels.assembly<float>(f, {width, fused}));
    return 0;
  }
  llvm::outs() << "ns a vector            dependent chain         independent\n";
  for (const Operation& f : operations()) {
    if (!args.empty() && !llvm::is_contained(args, f.function.name))
      continue;
    for (int64_t width : {0, 8, 16, 64}) {
      auto t = timeOf<float>(kernels, f, width);
      llvm::outs() << llvm::format("%-10s f32 x %-3d %14.2f %20.2f\n", f.function.name, int(width),
                                   t.chain, t.map);
    }
    for (int64_t width : {0, 8, 32}) {
      auto t = timeOf<double>(kernels, f, width);
      llvm::outs() << llvm::format("%-10s f64 x %-3d %14.2f %20.2f\n", f.function.name, int(width),
                                   t.chain, t.map);
    }
  }
  llvm::outs() << llvm::format("libm expf %.2f tanhf %.2f 1/(1+expf) %.2f logf %.2f sinf %.2f\n",
                               libmChain<float>(expf), libmChain<float>(tanhf),
                               libmChain<float>(sigmoidf), libmChain<float>(logf),
                               libmChain<float>(sinf));
  llvm::outs() << llvm::format("libm exp %.2f tanh %.2f 1/(1+exp) %.2f log %.2f sin %.2f\n",
                               libmChain<double>(exp), libmChain<double>(tanh),
                               libmChain<double>(sigmoidd), libmChain<double>(log),
                               libmChain<double>(sin));
}
