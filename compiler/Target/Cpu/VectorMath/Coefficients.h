//===- Coefficients.h - written by coefficients/generate.py, not by hand ===//
#pragma once

namespace rnnc::vecmath {

// ln 2 in two parts
inline constexpr double kLn2F32[] = {0x1.62e43p-1, -0x1.05c61p-29};

// ln 2 in two parts; 8-bit multiples of the first are exact
inline constexpr double kLn2ShortF32[] = {0x1.62e4p-1, 0x1.7f7d1cp-20};

// (e^r - 1 - r) / r^2; relative error of e^r 2^-28.25
inline constexpr double kExpTailF32[] = {0x1.fffffcp-2, 0x1.555492p-3, 0x1.5558b4p-5, 0x1.12399ap-7,
                                         0x1.6a48c8p-10};

// (e^r - 1 - r) / r^2; relative error of e^r - 1 2^-31.1
inline constexpr double kExpm1TailF32[] = {0x1p-1,        0x1.555554p-3,  0x1.5554f8p-5,
                                           0x1.1112d6p-7, 0x1.6d3a5ap-10, 0x1.9e7826p-13};

// ln 2 in two parts
inline constexpr double kLn2F64[] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

// ln 2 in two parts; 11-bit multiples of the first are exact
inline constexpr double kLn2ShortF64[] = {0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45};

// (e^r - 1 - r) / r^2; relative error of e^r 2^-57.9
inline constexpr double kExpTailF64[] = {
    0x1.000000000000ap-1,  0x1.5555555555508p-3,  0x1.555555555074dp-5,  0x1.11111111253dbp-7,
    0x1.6c16c18453821p-10, 0x1.a01a01349545bp-13, 0x1.a01999b6ff04ap-16, 0x1.71df1313c04f2p-19,
    0x1.28adb790dfdebp-22, 0x1.ad977ce21b0c6p-26};

// (e^r - 1 - r) / r^2; relative error of e^r - 1 2^-61.61
inline constexpr double kExpm1TailF64[] = {0x1p-1,
                                           0x1.5555555555559p-3,
                                           0x1.5555555555558p-5,
                                           0x1.111111110f713p-7,
                                           0x1.6c16c16c174cp-10,
                                           0x1.a01a01af9e832p-13,
                                           0x1.a01a0199bf887p-16,
                                           0x1.71ddf922dfac4p-19,
                                           0x1.27e502a394409p-22,
                                           0x1.af5d463b70167p-26,
                                           0x1.1f2a2ec6d4e65p-29};

// (tanh(r) - r) / r^3 in r^2; relative error of tanh(r) 2^-32.5
inline constexpr double kTanhTailF32[] = {-0x1.55554ep-2, 0x1.110592p-3, -0x1.afd662p-5};

// (tanh(r) - r) / r^3 in r^2; relative error of tanh(r) 2^-66.99
inline constexpr double kTanhTailF64[] = {
    -0x1.5555555555555p-2, 0x1.1111111110edap-3, -0x1.ba1ba1b97c406p-5,  0x1.664f47d8b69e5p-6,
    -0x1.226dd430ff36ep-7, 0x1.d6969229c8c9cp-9, -0x1.738d27b23dc56p-10, 0x1.06951048ba3ebp-12};

} // namespace rnnc::vecmath
