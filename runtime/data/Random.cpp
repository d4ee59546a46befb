#include "data/Random.h"

#include "data/ByteSource.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <thread>

namespace rnnc::data {

namespace {

// --- Specifications -----------------------------------------------------------------------------

std::string_view trimmed(std::string_view text) {
  size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

struct Kind {
  std::string_view name, parameters;
  Distribution distribution;
  size_t least, most; // numbers of parameters
};

constexpr Kind kinds[] = {{"normal", "mean, standard deviation[, cut]", Distribution::Normal, 2, 3},
                          {"uniform", "lower end, upper end", Distribution::Uniform, 2, 2},
                          {"constant", "value", Distribution::Constant, 1, 1}};

bool parseNumber(std::string_view text, double& value) {
  if (text.starts_with('+'))
    text.remove_prefix(1);
  const char* end = text.data() + text.size();
  auto [stop, status] = std::from_chars(text.data(), end, value);
  return status == std::errc() && stop == end && std::isfinite(value);
}

/// Puts the parameters where they belong; says what is wrong with them.
std::string assign(const Kind& kind, const std::vector<double>& values, RandomSpec& spec) {
  if (values.size() < kind.least || values.size() > kind.most)
    return fmt::format("{} takes ({})", kind.name, kind.parameters);
  spec.distribution = kind.distribution;
  spec.first = values[0];
  spec.second = values.size() > 1 ? values[1] : 0;
  spec.cut = values.size() > 2 ? values[2] : std::numeric_limits<double>::infinity();
  if (kind.distribution == Distribution::Normal && spec.second < 0)
    return "the standard deviation is negative";
  if (kind.distribution == Distribution::Normal && spec.cut < 0)
    return "the cut is negative";
  if (kind.distribution == Distribution::Uniform && spec.first > spec.second)
    return "the lower end is above the upper end";
  return {};
}

// --- Numbers ------------------------------------------------------------------------------------

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
uint64_t mix(uint64_t z) {
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

/// Element i of a stream: SplitMix64, entered at any place.
uint64_t bitsAt(uint64_t key, uint64_t i) { return mix(key + (i + 1) * 0x9e3779b97f4a7c15); }

uint64_t streamKey(uint64_t seed, std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325; // FNV-1a
  for (unsigned char c : name)
    hash = (hash ^ c) * 0x100000001b3;
  return mix(mix(seed + 0x9e3779b97f4a7c15) ^ hash);
}

/// In (0, 1), symmetric about 1/2, exact: neither end can come out.
double unit(uint64_t bits) { return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52; }

/// ln x for a positive, normal x, by ln((1+s)/(1-s)) = 2 (s + s^3/3 + ...).
double logarithm(double x) {
  constexpr double ln2 = 0.693147180559945309417;
  uint64_t bits = std::bit_cast<uint64_t>(x);
  int64_t exponent = static_cast<int64_t>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xfffffffffffff) | 0x3ff0000000000000);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  double s = (m - 1) / (m + 1), q = s * s; // q < 0.0295: 11 terms leave less than 1e-18
  double sum = 0;
  for (int k = 21; k >= 3; k -= 2)
    sum = (sum + 1.0 / k) * q;
  return static_cast<double>(exponent) * ln2 + 2 * s * (1 + sum);
}

// Wichura, Algorithm AS 241 (PPND16), Applied Statistics 37 (1988).

/// For |u - 1/2| <= 0.425; q = u - 1/2.
double quantileCentre(double q) {
  double r = 0.180625 - q * q;
  double numerator =
      ((((((2.5090809287301226727e3 * r + 3.3430575583588128105e4) * r + 6.7265770927008700853e4) *
              r +
          4.5921953931549871457e4) *
             r +
         1.3731693765509461125e4) *
            r +
        1.9715909503065514427e3) *
           r +
       1.3314166789178437745e2) *
          r +
      3.3871328727963666080e0;
  double denominator =
      ((((((5.2264952788528545610e3 * r + 2.8729085735721942674e4) * r + 3.9307895800092710610e4) *
              r +
          2.1213794301586595867e4) *
             r +
         5.3941960214247511077e3) *
            r +
        6.8718700749205790830e2) *
           r +
       4.2313330701600911252e1) *
          r +
      1.0;
  return q * numerator / denominator;
}

/// For u near 0 or 1; p is the distance to the nearer of them. Positive.
double quantileTail(double p) {
  double r = std::sqrt(-logarithm(p));
  if (r <= 5) {
    r -= 1.6;
    double numerator = ((((((7.74545014278341407640e-4 * r + 2.27238449892691845833e-2) * r +
                            2.41780725177450611770e-1) *
                               r +
                           1.27045825245236838258e0) *
                              r +
                          3.64784832476320460504e0) *
                             r +
                         5.76949722146069140550e0) *
                            r +
                        4.63033784615654529590e0) *
                           r +
                       1.42343711074968357734e0;
    double denominator = ((((((1.05075007164441684324e-9 * r + 5.47593808499534494600e-4) * r +
                              1.51986665636164571966e-2) *
                                 r +
                             1.48103976427480074590e-1) *
                                r +
                            6.89767334985100004550e-1) *
                               r +
                           1.67638483018380384940e0) *
                              r +
                          2.05319162663775882187e0) *
                             r +
                         1.0;
    return numerator / denominator;
  }
  r -= 5;
  double numerator = ((((((2.01033439929228813265e-7 * r + 2.71155556874348757815e-5) * r +
                          1.24266094738807843860e-3) *
                             r +
                         2.65321895265761230930e-2) *
                            r +
                        2.96560571828504891230e-1) *
                           r +
                       1.78482653991729133580e0) *
                          r +
                      5.46378491116411436990e0) *
                         r +
                     6.65790464350110377720e0;
  double denominator = ((((((2.04426310338993978564e-15 * r + 1.42151175831644588870e-7) * r +
                            1.84631831751005468180e-5) *
                               r +
                           7.86869131145613259100e-4) *
                              r +
                          1.48753612908506148525e-2) *
                             r +
                         1.36929880922735805310e-1) *
                            r +
                        5.99832206555887937690e-1) *
                           r +
                       1.0;
  return numerator / denominator;
}

constexpr double centreWidth = 0.425;

/// Elements [begin, begin + n) of the standard normal stream, in two loops so that the frequent
/// case is straight-line code.
void standardNormals(uint64_t key, int64_t begin, int64_t n, double* out) {
  for (int64_t i = 0; i < n; ++i)
    out[i] = unit(bitsAt(key, static_cast<uint64_t>(begin + i))) - 0.5;
  for (int64_t i = 0; i < n; ++i) {
    double q = out[i];
    if (std::abs(q) <= centreWidth)
      out[i] = quantileCentre(q);
    else
      out[i] = std::copysign(quantileTail(0.5 - std::abs(q)), q);
  }
}

void draw(const RandomSpec& spec, uint64_t key, int64_t begin, int64_t n, double* out) {
  switch (spec.distribution) {
  case Distribution::Normal:
    standardNormals(key, begin, n, out);
    for (int64_t i = 0; i < n; ++i)
      out[i] = spec.first + std::clamp(spec.second * out[i], -spec.cut, spec.cut);
    return;
  case Distribution::Uniform:
    for (int64_t i = 0; i < n; ++i) {
      double u = unit(bitsAt(key, static_cast<uint64_t>(begin + i)));
      out[i] = (1 - u) * spec.first + u * spec.second; // no overflow, unlike a + u (b - a)
    }
    return;
  case Distribution::Constant:
    std::fill_n(out, n, spec.first);
  }
}

template <class T>
void fill(const RandomSpec& spec, uint64_t key, std::span<T> out, int64_t begin, int64_t end) {
  constexpr int64_t block = 512;
  double values[block];
  for (int64_t at = begin; at < end; at += block) {
    int64_t n = std::min(block, end - at);
    draw(spec, key, at, n, values);
    for (int64_t i = 0; i < n; ++i)
      out[static_cast<size_t>(at + i)] = static_cast<T>(values[i]);
  }
}

template <class T>
void fillInThreads(const RandomSpec& spec, uint64_t key, std::span<T> out) {
  constexpr int64_t leastPerThread = 1 << 16, mostThreads = 16;
  int64_t total = static_cast<int64_t>(out.size());
  int64_t threads = std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, mostThreads);
  threads = std::clamp<int64_t>(total / leastPerThread, 1, threads);
  int64_t part = (total + threads - 1) / threads;
  std::vector<std::jthread> others;
  int64_t begin = 0;
  try {
    for (; begin + part < total; begin += part)
      others.emplace_back([=, &spec] { fill(spec, key, out, begin, begin + part); });
  } catch (const std::exception&) {
    // No more threads to be had: the rest is drawn here.
  }
  fill(spec, key, out, begin, total);
}

} // namespace

double normalQuantile(double u) {
  double q = u - 0.5;
  if (std::abs(q) <= centreWidth)
    return quantileCentre(q);
  return std::copysign(quantileTail(std::min(u, 1 - u)), q);
}

Result<RandomSpec> parseRandom(std::string_view text) {
  auto fail = [&](std::string_view why) {
    return Error{fmt::format("'{}': {}; expected something like name:normal(0,0.3), "
                             "name:uniform(-1,1) or name:constant(0.5)",
                             printable(text), why)};
  };
  size_t colon = text.find(':'), open = text.find('(');
  if (colon == std::string_view::npos || open == std::string_view::npos || open < colon)
    return fail("no distribution is given");
  RandomSpec spec;
  spec.name = trimmed(text.substr(0, colon));
  if (spec.name.empty())
    return fail("the name of the array is missing");
  std::string_view rest = trimmed(text.substr(open + 1));
  if (!rest.ends_with(')'))
    return fail("the closing parenthesis is missing");
  rest.remove_suffix(1);

  std::string_view name = trimmed(text.substr(colon + 1, open - colon - 1));
  const Kind* kind = std::ranges::find(kinds, name, &Kind::name);
  if (kind == std::end(kinds))
    return fail(fmt::format("there is no distribution '{}'", printable(name)));

  std::vector<double> values;
  for (size_t at = 0; at <= rest.size() && values.size() <= kind->most;) {
    size_t comma = std::min(rest.find(',', at), rest.size());
    double value = 0;
    if (!parseNumber(trimmed(rest.substr(at, comma - at)), value))
      return fail(fmt::format("{} takes finite numbers ({})", kind->name, kind->parameters));
    values.push_back(value);
    at = comma + 1;
  }
  if (std::string problem = assign(*kind, values, spec); !problem.empty())
    return fail(problem);
  return spec;
}

Result<HostArray> randomArray(const RandomSpec& spec, uint64_t seed, DType dtype,
                              std::vector<int64_t> shape) {
  if (isHalf(dtype)) { // the f32 array, rounded
    Result<HostArray> wide = randomArray(spec, seed, DType::F32, std::move(shape));
    return wide ? convert(*wide, dtype) : wide;
  }
  Result<HostArray> array = allocate(dtype, std::move(shape));
  if (!array)
    return Error{fmt::format("random array '{}': {}", spec.name, array.error().text)};
  uint64_t key = streamKey(seed, spec.name);
  if (dtype == DType::F32)
    fillInThreads(spec, key, array->values<float>());
  else
    fillInThreads(spec, key, array->values<double>());
  return array;
}

} // namespace rnnc::data
