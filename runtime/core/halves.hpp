// The 16-bit floating-point types, as arrays store them: bfloat16 and IEEE binary16.
//
// Plain integer arithmetic without branches, so that loops over arrays become vector code on every
// machine, with or without instructions of its own for halves. Rounds to nearest, ties to even,
// once: also from double. Needs subnormal numbers and rounding to nearest in the floating-point
// environment.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace rnnc::runtime {

/// A float that rounds to whatever is at least two bits narrower as the double would: cut off, its
/// last bit set where that lost something (round to odd: Boldo and Melquiond, "When double rounding
/// is odd", 2005).
inline float roundToOdd(double value) {
  const auto nearest = static_cast<float>(value);
  const double back = nearest;
  auto bits = std::bit_cast<uint32_t>(nearest);
  bits -= std::fabs(back) > std::fabs(value);
  bits |= back < value || back > value; // a NaN stays as it is
  return std::bit_cast<float>(bits);
}

/// The upper half of a float.
struct BFloat16 {
  uint16_t bits;

  BFloat16() = default;
  explicit BFloat16(float value) {
    const auto from = std::bit_cast<uint32_t>(value);
    const uint32_t rounded = (from + 0x7fff + (from >> 16 & 1)) >> 16;
    const uint32_t quiet = from >> 16 | 0x40;
    bits = static_cast<uint16_t>((from & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
  }
  explicit BFloat16(double value) : BFloat16(roundToOdd(value)) {}

  explicit operator float() const { return std::bit_cast<float>(uint32_t(bits) << 16); }
  explicit operator double() const { return static_cast<float>(*this); }
};

/// IEEE binary16: 5 bits of exponent, 10 of fraction.
struct Float16 {
  uint16_t bits;

  Float16() = default;
  explicit Float16(float value) {
    const auto from = std::bit_cast<uint32_t>(value);
    const uint32_t size = from & 0x7fffffff;
    // Exponents are 112 apart. A carry out of the fraction is the next power of two, or infinity.
    const uint32_t normal = (size - (112u << 23) + 0xfff + (size >> 13 & 1)) >> 13;
    // The unit of 1/2 + size is that of subnormal halves: the addition rounds.
    const float shifted = std::bit_cast<float>(size < 0x38800000 ? size : 0u) + 0.5f;
    const uint32_t subnormal = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0.5f);
    const uint32_t special = size > 0x7f800000 ? 0x7e00 | (size >> 13 & 0x3ff) : 0x7c00;
    const uint32_t magnitude = size < 0x38800000    ? subnormal
                               : size >= 0x47800000 ? special
                                                    : normal;
    bits = static_cast<uint16_t>(magnitude | (from >> 16 & 0x8000));
  }
  explicit Float16(double value) : Float16(roundToOdd(value)) {}

  explicit operator float() const {
    const uint32_t size = uint32_t(bits & 0x7fff) << 13, sign = uint32_t(bits & 0x8000) << 16;
    // 2^112 too small, subnormal or not.
    const auto scaled = std::bit_cast<uint32_t>(std::bit_cast<float>(size) * 0x1p112f);
    return std::bit_cast<float>(sign | (size >= 0x0f800000 ? size | 0x7f800000 : scaled));
  }
  explicit operator double() const { return static_cast<float>(*this); }
};

} // namespace rnnc::runtime
