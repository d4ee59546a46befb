//===- Coefficients.h - written by coefficients/generate.py, not by hand ===//
#pragma once

#include <cstdint>

namespace rnnc::vecmath {

// ln 2 in two parts
inline constexpr double kLn2F32[] = {
    0x1.62e43p-1, -0x1.05c61p-29};

// ln 2 in two parts; 8-bit multiples of the first are exact
inline constexpr double kLn2ShortF32[] = {
    0x1.62e4p-1, 0x1.7f7d1cp-20};

// (e^r - 1 - r) / r^2; relative error of e^r 2^-28.25
inline constexpr double kExpTailF32[] = {
    0x1.fffffcp-2, 0x1.555492p-3, 0x1.5558b4p-5, 0x1.12399ap-7, 0x1.6a48c8p-10};

// (e^r - 1 - r) / r^2; relative error of e^r - 1 2^-31.1
inline constexpr double kExpm1TailF32[] = {
    0x1p-1, 0x1.555554p-3, 0x1.5554f8p-5, 0x1.1112d6p-7, 0x1.6d3a5ap-10, 0x1.9e7826p-13};

// ln 2 in two parts
inline constexpr double kLn2F64[] = {
    0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

// ln 2 in two parts; 11-bit multiples of the first are exact
inline constexpr double kLn2ShortF64[] = {
    0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45};

// (e^r - 1 - r) / r^2; relative error of e^r 2^-57.9
inline constexpr double kExpTailF64[] = {
    0x1.000000000000ap-1, 0x1.5555555555508p-3, 0x1.555555555074dp-5, 0x1.11111111253dbp-7,
    0x1.6c16c18453821p-10, 0x1.a01a01349545bp-13, 0x1.a01999b6ff04ap-16, 0x1.71df1313c04f2p-19,
    0x1.28adb790dfdebp-22, 0x1.ad977ce21b0c6p-26};

// (e^r - 1 - r) / r^2; relative error of e^r - 1 2^-61.61
inline constexpr double kExpm1TailF64[] = {
    0x1p-1, 0x1.5555555555559p-3, 0x1.5555555555558p-5, 0x1.111111110f713p-7, 0x1.6c16c16c174cp-10,
    0x1.a01a01af9e832p-13, 0x1.a01a0199bf887p-16, 0x1.71ddf922dfac4p-19, 0x1.27e502a394409p-22,
    0x1.af5d463b70167p-26, 0x1.1f2a2ec6d4e65p-29};

// (tanh(r) - r) / r^3 in r^2; relative error of tanh(r) 2^-32.5
inline constexpr double kTanhTailF32[] = {
    -0x1.55554ep-2, 0x1.110592p-3, -0x1.afd662p-5};

// (tanh(r) - r) / r^3 in r^2; relative error of tanh(r) 2^-66.99
inline constexpr double kTanhTailF64[] = {
    -0x1.5555555555555p-2, 0x1.1111111110edap-3, -0x1.ba1ba1b97c406p-5, 0x1.664f47d8b69e5p-6,
    -0x1.226dd430ff36ep-7, 0x1.d6969229c8c9cp-9, -0x1.738d27b23dc56p-10, 0x1.06951048ba3ebp-12};

// (log(1 + f) - f + f^2 / 2) / f^3; relative error of log(1 + f) 2^-27.35
inline constexpr double kLogTailF32[] = {
    0x1.555554p-2, -0x1.000226p-2, 0x1.99a01cp-3, -0x1.54728ap-3, 0x1.22d92ep-3, -0x1.0d8242p-3,
    0x1.055ec2p-3, -0x1.38c9cap-4};

// (log(1 + f) - f + f^2 / 2) / f^3; relative error of log(1 + f) 2^-59.29
inline constexpr double kLogTailF64[] = {
    0x1.555555555556bp-2, -0x1.ffffffffffe86p-3, 0x1.9999999994da6p-3, -0x1.555555556aaabp-3,
    0x1.249249275cb4bp-3, -0x1.fffffff3e246dp-4, 0x1.c71c702ec2619p-4, -0x1.99999a98a026p-4,
    0x1.745d58b4c64ccp-4, -0x1.555577538aa82p-4, 0x1.3b0d7b54d2964p-4, -0x1.248945ac6cb0dp-4,
    0x1.1169de561e24cp-4, -0x1.00cfc1e072eb2p-4, 0x1.dc99c4a106bffp-5, -0x1.b45ed23b3a5eap-5,
    0x1.bba4e67b1b765p-5, -0x1.01039161f908fp-4, 0x1.d2bc2a432bc47p-5, -0x1.8dd9156c5d18ep-6};

// pi/2 in parts
inline constexpr double kHalfPiF32[] = {
    0x1.921fb6p+0, -0x1.777a5cp-25, -0x1.ee59dap-50};

// pi/2 in parts; 11-bit multiples of all but the last are exact
inline constexpr double kHalfPiShortF32[] = {
    0x1.922p+0, -0x1.2afp-18, 0x1.0b4p-34, 0x1.84698ap-48};

// (sin(r) - r) / r^3 in r^2; relative error of sin(r) 2^-27.83
inline constexpr double kSineTailF32[] = {
    -0x1.555544p-3, 0x1.1106c4p-7, -0x1.991aep-13};

// (cos(r) - 1 + r^2 / 2) / r^4 in r^2; error of cos(r) 2^-33.09
inline constexpr double kCosineTailF32[] = {
    0x1.55554ap-5, -0x1.6c0c18p-10, 0x1.99dfdcp-16};

// pi/2 in parts
inline constexpr double kHalfPiF64[] = {
    0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};

// pi/2 in parts; 20-bit multiples of all but the last are exact
inline constexpr double kHalfPiShortF64[] = {
    0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69, 0x1.b839a252049c1p-104};

// (sin(r) - r) / r^3 in r^2; relative error of sin(r) 2^-57.65
inline constexpr double kSineTailF64[] = {
    -0x1.5555555555546p-3, 0x1.111111110f3ffp-7, -0x1.a01a019b80b15p-13, 0x1.71de34f8f1fe3p-19,
    -0x1.ae5e023b15c79p-26, 0x1.5d75d4a413db8p-33};

// (cos(r) - 1 + r^2 / 2) / r^4 in r^2; error of cos(r) 2^-63.91
inline constexpr double kCosineTailF64[] = {
    0x1.555555555554ap-5, -0x1.6c16c16c14dc4p-10, 0x1.a01a019c515f8p-16, -0x1.27e4f7c23f855p-22,
    0x1.1ee9b9ef5f736p-29, -0x1.8f9429ee5dcffp-37};

// 2 pi in parts of 26, 27 and 53 bits
inline constexpr double kTwoPi[] = {
    0x1.921fb58p+2, -0x1.dde973cp-25, -0x1.cb3b399d747f2p-53};

// 1/(2 pi): a word of zeros, then its bits, 32 a word
inline constexpr uint32_t kTurnWords[] = {
    0x00000000, 0x28be60db, 0x9391054a, 0x7f09d5f4, 0x7d4d3770, 0x36d8a566, 0x4f10e410, 0x7f9458ea,
    0xf7aef158, 0x6dc91b8e, 0x909374b8, 0x01924bba, 0x82746487, 0x3f877ac7, 0x2c4a69cf, 0xba208d7d,
    0x4baed121, 0x3a671c09, 0xad17df90, 0x4e64758e, 0x60d4ce7d, 0x272117e2, 0xef7e4a0e, 0xc7fe25ff,
    0xf7816603, 0xfbcbc462, 0xd6829b47, 0xdb4d9fb3, 0xc9f2c26d, 0xd3d18fd9, 0xa797fa8b, 0x5d49eeb1,
    0xfaf97c5e, 0xcf41ce7d, 0xe294a4ba, 0x9afed7ec, 0x47e35742, 0x1580cc11, 0xbf1edaea, 0xfc33ef08};

} // namespace rnnc::vecmath
