// The elementary functions of rnn/math.cuh on ranges of arguments, against CUDA's own in float64.
#include "rnn/math.cuh"

namespace sweep {

struct args {
  unsigned long long first, count, step; // patterns first, first + step, ...; or numbers of pairs
  double* worst;                         // a thread: the largest error, and where
};

__device__ inline double infinity() { return rnn::elementary::infinity<double>(); }
__device__ inline bool is_nan(double x) { return x != x; }
__device__ inline double size(double x) { return x < 0 ? -x : x; }

/// The distance between the f32 numbers around a value.
__device__ inline double ulp(double x) {
  const int exponent =
      static_cast<int>(rnn::elementary::bits(size(x)) >> 52) - 1023;
  const int last = exponent < -126 ? -149 : exponent - 23;
  return rnn::elementary::from_bits(static_cast<unsigned long long>(last + 1023) << 52);
}

/// What f32 makes of a value: infinity from half an ulp beyond the largest number on.
__device__ inline double stored(double want) {
  return size(want) >= 0x1.ffffffp+127 && !is_nan(want) ? want > 0 ? infinity() : -infinity()
                                                         : want;
}

/// 0 where both are the same, NaN or infinite; infinity where only one is.
__device__ inline double distance(double got, double want) {
  if (got == want || (is_nan(got) && is_nan(want)))
    return 0;
  if (is_nan(got) || is_nan(want) || size(want) == infinity() || size(got) == infinity())
    return infinity();
  return size(got - want);
}

namespace reference {
__device__ inline double exp(double x, double) { return ::exp(x); }
__device__ inline double expm1(double x, double) { return ::expm1(x); }
__device__ inline double log(double x, double) { return ::log(x); }
__device__ inline double log1p(double x, double) { return ::log1p(x); }
__device__ inline double tanh(double x, double) { return ::tanh(x); }
__device__ inline double sigmoid(double x, double) { return 1 / (1 + ::exp(-x)); }
__device__ inline double softplus(double x, double) {
  return x > 0 ? x + ::log1p(::exp(-x)) : ::log1p(::exp(x));
}
__device__ inline double sin(double x, double) { return ::sin(x); }
__device__ inline double cos(double x, double) { return ::cos(x); }
__device__ inline double tan(double x, double) { return ::tan(x); }
__device__ inline double asin(double x, double) { return ::asin(x); }
__device__ inline double acos(double x, double) { return ::acos(x); }
__device__ inline double atan(double x, double) { return ::atan(x); }
__device__ inline double sinh(double x, double) { return ::sinh(x); }
__device__ inline double cosh(double x, double) { return ::cosh(x); }
__device__ inline double erf(double x, double) { return ::erf(x); }
__device__ inline double sqrt(double x, double) { return ::sqrt(x); }
__device__ inline double rsqrt(double x, double) { return 1 / ::sqrt(x); }
__device__ inline double sign(double x, double) { return x > 0 ? 1 : x < 0 ? -1 : x; }
__device__ inline double atan2(double y, double x) { return ::atan2(y, x); }
__device__ inline double pow(double x, double y) { return ::pow(x, y); }
} // namespace reference

/// Two patterns that have nothing to do with each other or with their number (splitmix64).
__device__ inline unsigned long long scrambled(unsigned long long n) {
  n = (n + 1) * 0x9E3779B97F4A7C15ull;
  n = (n ^ (n >> 30)) * 0xBF58476D1CE4E5B9ull;
  n = (n ^ (n >> 27)) * 0x94D049BB133111EBull;
  return n ^ (n >> 31);
}

template <int arguments, class Error>
__device__ inline void over(const args& of, Error error) {
  const unsigned long long thread = blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x;
  double worst = 0, at = 0, beside = 0;
  for (unsigned long long n = thread; n < of.count; n += static_cast<unsigned long long>(gridDim.x) * blockDim.x) {
    const unsigned long long number = of.first + n * of.step;
    const unsigned long long pair = arguments == 2 ? scrambled(number) : number;
    const float x = rnn::elementary::from_bits(static_cast<unsigned>(pair));
    const float y = rnn::elementary::from_bits(static_cast<unsigned>(pair >> 32));
    const double here = error(x, y);
    if (here > worst || is_nan(here))
      worst = is_nan(here) ? infinity() : here, at = x, beside = y;
  }
  of.worst[3 * thread] = worst;
  of.worst[3 * thread + 1] = at;
  of.worst[3 * thread + 2] = beside;
}

} // namespace sweep

// In ulp of f32, and in parts of what is allowed; math_source.hpp writes kernels that call them.
#define RNN_CALL_1(name) name(x)
#define RNN_CALL_2(name) name(x, y)
#define RNN_SWEEP_ULP(name, arguments)                                                             \
  sweep::over<arguments>(of, [](float x, float y) {                                                \
    const double want = sweep::reference::name(x, y);                                              \
    const double off = sweep::distance(rnn::polynomial<float>::RNN_CALL_##arguments(name),         \
                                       sweep::stored(want));                                       \
    return off == 0 ? 0. : off / sweep::ulp(want);                                                 \
  })
#define RNN_SWEEP_ALLOWED(name, flushes, allowed)                                                  \
  sweep::over<1>(of, [](float f, float) {                                                          \
    const double x = f, want = sweep::reference::name(x, 0);                                       \
    if (flushes && sweep::size(x) < 0x1p-126)                                                      \
      return 0.;                                                                                   \
    const double off = sweep::distance(rnn::special<float>::name(f), sweep::stored(want));         \
    return off == 0 ? 0. : off / (allowed);                                                        \
  })
