// Constants of the elementary functions. Written by generate.py (VectorMath/coefficients).
//
// The CPU's vector math takes them from here too. Functions, not arrays: what a kernel folds into
// its instructions leaves no array behind in its PTX.
#pragma once

namespace rnn::coefficients {

template <class T, int n>
struct list {
  enum { size = n };
  T at[n];
  constexpr T operator[](int i) const { return at[i]; }
};

// ln 2 in two parts
constexpr list<double, 2> ln2_f32() { return {{0x1.62e43p-1, -0x1.05c61p-29}}; }

// ln 2 in two parts; 8-bit multiples of the first are exact
constexpr list<double, 2> ln2_short_f32() { return {{0x1.62e4p-1, 0x1.7f7d1cp-20}}; }

// (e^r - 1 - r) / r^2; relative error of e^r 2^-28.25
constexpr list<double, 5> exp_tail_f32() {
  return {{0x1.fffffcp-2, 0x1.555492p-3, 0x1.5558b4p-5, 0x1.12399ap-7, 0x1.6a48c8p-10}};
}

// (e^r - 1 - r) / r^2, |r| <= ln 2; relative error of e^r 2^-26.03
constexpr list<double, 6> exp_wide_tail_f32() {
  return {
      {0x1.00000cp-1, 0x1.555512p-3, 0x1.5549d8p-5, 0x1.1127p-7, 0x1.71c59p-10, 0x1.9bc00cp-13}};
}

// (e^r - 1 - r) / r^2; relative error of e^r - 1 2^-31.1
constexpr list<double, 6> expm1_tail_f32() {
  return {{0x1p-1, 0x1.555554p-3, 0x1.5554f8p-5, 0x1.1112d6p-7, 0x1.6d3a5ap-10, 0x1.9e7826p-13}};
}

// ln 2 in two parts
constexpr list<double, 2> ln2_f64() { return {{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56}}; }

// ln 2 in two parts; 11-bit multiples of the first are exact
constexpr list<double, 2> ln2_short_f64() { return {{0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45}}; }

// (e^r - 1 - r) / r^2; relative error of e^r 2^-57.9
constexpr list<double, 10> exp_tail_f64() {
  return {{0x1.000000000000ap-1, 0x1.5555555555508p-3, 0x1.555555555074dp-5, 0x1.11111111253dbp-7,
           0x1.6c16c18453821p-10, 0x1.a01a01349545bp-13, 0x1.a01999b6ff04ap-16,
           0x1.71df1313c04f2p-19, 0x1.28adb790dfdebp-22, 0x1.ad977ce21b0c6p-26}};
}

// (e^r - 1 - r) / r^2, |r| <= ln 2; relative error of e^r 2^-61.62
constexpr list<double, 13> exp_wide_tail_f64() {
  return {{0x1p-1, 0x1.5555555555552p-3, 0x1.555555555557cp-5, 0x1.1111111111934p-7,
           0x1.6c16c16c10909p-10, 0x1.a01a019e72cbep-13, 0x1.a01a01ab8131ap-16,
           0x1.71de3cd11f252p-19, 0x1.27e4f1ea5ac1ap-22, 0x1.ae608c7d8b17fp-26,
           0x1.1ef4aa40165b8p-29, 0x1.63fee99f8dbddp-33, 0x1.90b4efb73a114p-37}};
}

// (e^r - 1 - r) / r^2; relative error of e^r - 1 2^-61.61
constexpr list<double, 11> expm1_tail_f64() {
  return {{0x1p-1, 0x1.5555555555559p-3, 0x1.5555555555558p-5, 0x1.111111110f713p-7,
           0x1.6c16c16c174cp-10, 0x1.a01a01af9e832p-13, 0x1.a01a0199bf887p-16,
           0x1.71ddf922dfac4p-19, 0x1.27e502a394409p-22, 0x1.af5d463b70167p-26,
           0x1.1f2a2ec6d4e65p-29}};
}

// (sinh(r) - r) / r^3 in r^2; relative error of sinh(r) 2^-26.15
constexpr list<double, 2> sinh_tail_f32() { return {{0x1.5554aep-3, 0x1.12291cp-7}}; }

// (cosh(r) - 1) / r^2 in r^2; error of cosh(r) 2^-33.23
constexpr list<double, 3> cosh_tail_f32() { return {{0x1p-1, 0x1.5554e6p-5, 0x1.6d4f24p-10}}; }

// (sinh(r) - r) / r^3 in r^2; relative error of sinh(r) 2^-61.69
constexpr list<double, 5> sinh_tail_f64() {
  return {{0x1.5555555555559p-3, 0x1.111111110f62ap-7, 0x1.a01a01b02046ap-13, 0x1.71ddf7b020337p-19,
           0x1.af5ff27d7447dp-26}};
}

// (cosh(r) - 1) / r^2 in r^2; error of cosh(r) 2^-70.0
constexpr list<double, 6> cosh_tail_f64() {
  return {{0x1p-1, 0x1.5555555555558p-5, 0x1.6c16c16c14ffap-10, 0x1.a01a01ad81054p-16,
           0x1.27e4cc090800ep-22, 0x1.1f8bef1d7aec1p-29}};
}

// (tanh(r) - r) / r^3 in r^2, |r| <= 0.28; relative error of tanh(r) 2^-20.0
constexpr list<double, 2> tanh_near_f32() { return {{-0x1.553184p-2, 0x1.0568bap-3}}; }

// (log(1 + f) - f + f^2 / 2) / f^3; relative error of log(1 + f) 2^-27.35
constexpr list<double, 8> log_tail_f32() {
  return {{0x1.555554p-2, -0x1.000226p-2, 0x1.99a01cp-3, -0x1.54728ap-3, 0x1.22d92ep-3,
           -0x1.0d8242p-3, 0x1.055ec2p-3, -0x1.38c9cap-4}};
}

// (log(1 + f) - f + f^2 / 2) / f^3; relative error of log(1 + f) 2^-59.29
constexpr list<double, 20> log_tail_f64() {
  return {
      {0x1.555555555556bp-2, -0x1.ffffffffffe86p-3, 0x1.9999999994da6p-3, -0x1.555555556aaabp-3,
       0x1.249249275cb4bp-3, -0x1.fffffff3e246dp-4, 0x1.c71c702ec2619p-4, -0x1.99999a98a03e2p-4,
       0x1.745d58b4c67c2p-4, -0x1.55557753836c6p-4, 0x1.3b0d7b54c1c88p-4, -0x1.248945ad3dc53p-4,
       0x1.1169de586188fp-4, -0x1.00cfc1d593333p-4, 0x1.dc99c456ce62ep-5, -0x1.b45ed2b252642p-5,
       0x1.bba4e8c1f252cp-5, -0x1.01039163ed03ep-4, 0x1.d2bc235d415bbp-5, -0x1.8dd908bc83228p-6}};
}

// (atanh(s) - s - s^3 / 3) / s^5 in s^2; relative error of atanh(s) 2^-73.48
constexpr list<double, 8> atanh_tail() {
  return {{0x1.9999999999996p-3, 0x1.2492492492f51p-3, 0x1.c71c71c5968fcp-4, 0x1.745d1829563bep-4,
           0x1.3b1364c96f136p-4, 0x1.11206f253d917p-4, 0x1.de3d72804ac1dp-5, 0x1.eac5a9f31a7e1p-5}};
}

// 1/3 in two parts
constexpr list<double, 2> third() { return {{0x1.5555555555555p-2, 0x1.5555555555555p-56}}; }

// pi/2 in parts
constexpr list<double, 3> half_pi_f32() {
  return {{0x1.921fb6p+0, -0x1.777a5cp-25, -0x1.ee59dap-50}};
}

// pi/2 in parts; 11-bit multiples of all but the last are exact
constexpr list<double, 4> half_pi_short_f32() {
  return {{0x1.922p+0, -0x1.2afp-18, 0x1.0b4p-34, 0x1.84698ap-48}};
}

// (sin(r) - r) / r^3 in r^2; relative error of sin(r) 2^-27.83
constexpr list<double, 3> sine_tail_f32() {
  return {{-0x1.555544p-3, 0x1.1106c4p-7, -0x1.991aep-13}};
}

// (cos(r) - 1 + r^2 / 2) / r^4 in r^2; error of cos(r) 2^-33.09
constexpr list<double, 3> cosine_tail_f32() {
  return {{0x1.55554ap-5, -0x1.6c0c18p-10, 0x1.99dfdcp-16}};
}

// pi/2 in parts
constexpr list<double, 3> half_pi_f64() {
  return {{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110}};
}

// pi/2 in parts; 20-bit multiples of all but the last are exact
constexpr list<double, 4> half_pi_short_f64() {
  return {{0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69, 0x1.b839a252049c1p-104}};
}

// (sin(r) - r) / r^3 in r^2; relative error of sin(r) 2^-57.65
constexpr list<double, 6> sine_tail_f64() {
  return {{-0x1.5555555555546p-3, 0x1.111111110f3ffp-7, -0x1.a01a019b80b15p-13,
           0x1.71de34f8f1fe3p-19, -0x1.ae5e023b15c79p-26, 0x1.5d75d4a413db8p-33}};
}

// (cos(r) - 1 + r^2 / 2) / r^4 in r^2; error of cos(r) 2^-63.91
constexpr list<double, 6> cosine_tail_f64() {
  return {{0x1.555555555554ap-5, -0x1.6c16c16c14dc4p-10, 0x1.a01a019c515f8p-16,
           -0x1.27e4f7c23f855p-22, 0x1.1ee9b9ef5f736p-29, -0x1.8f9429ee5dcffp-37}};
}

// 2 pi in parts of 26, 27 and 53 bits
constexpr list<double, 3> two_pi() {
  return {{0x1.921fb58p+2, -0x1.dde973cp-25, -0x1.cb3b399d747f2p-53}};
}

// 1/(2 pi): a word of zeros, then its bits, 32 a word
constexpr list<unsigned int, 40> turn_words() {
  return {{0x00000000, 0x28be60db, 0x9391054a, 0x7f09d5f4, 0x7d4d3770, 0x36d8a566, 0x4f10e410,
           0x7f9458ea, 0xf7aef158, 0x6dc91b8e, 0x909374b8, 0x01924bba, 0x82746487, 0x3f877ac7,
           0x2c4a69cf, 0xba208d7d, 0x4baed121, 0x3a671c09, 0xad17df90, 0x4e64758e, 0x60d4ce7d,
           0x272117e2, 0xef7e4a0e, 0xc7fe25ff, 0xf7816603, 0xfbcbc462, 0xd6829b47, 0xdb4d9fb3,
           0xc9f2c26d, 0xd3d18fd9, 0xa797fa8b, 0x5d49eeb1, 0xfaf97c5e, 0xcf41ce7d, 0xe294a4ba,
           0x9afed7ec, 0x47e35742, 0x1580cc11, 0xbf1edaea, 0xfc33ef08}};
}

// pi/4 in two parts
constexpr list<double, 2> quarter_pi_f32() { return {{0x1.921fb6p-1, -0x1.777a5cp-26}}; }

// (atan(r) - r) / r^3 in r^2; relative error of atan(r) 2^-30.42
constexpr list<double, 5> atan_tail_f32() {
  return {{-0x1.55554ap-2, 0x1.9991e2p-3, -0x1.23b9ap-3, 0x1.b22416p-4, -0x1.f2e3b8p-5}};
}

// (asin(r) - r) / r^3 in r^2; relative error of asin(r) 2^-27.62
constexpr list<double, 5> asin_tail_f32() {
  return {{0x1.5555c8p-3, 0x1.330204p-4, 0x1.747bbap-5, 0x1.8c3e26p-6, 0x1.595c96p-5}};
}

// pi/4 in two parts
constexpr list<double, 2> quarter_pi_f64() {
  return {{0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}};
}

// (atan(r) - r) / r^3 in r^2; relative error of atan(r) 2^-63.85
constexpr list<double, 12> atan_tail_f64() {
  return {{-0x1.5555555555554p-2, 0x1.9999999999584p-3, -0x1.249249246f58bp-3, 0x1.c71c71b458b7bp-4,
           -0x1.745d145043a3ap-4, 0x1.3b1364efc2debp-4, -0x1.110beb71407dcp-4, 0x1.e167bb09075f8p-5,
           -0x1.ab3bf206ea0a3p-5, 0x1.6fe4ebdfdc1dfp-5, -0x1.0fd551827370ap-5,
           0x1.e84cd2a721a39p-7}};
}

// (asin(r) - r) / r^3 in r^2; relative error of asin(r) 2^-55.9
constexpr list<double, 12> asin_tail_f64() {
  return {{0x1.555555555539p-3, 0x1.333333336e838p-4, 0x1.6db6db42776d3p-5, 0x1.f1c72c3a317a7p-6,
           0x1.6e89f41dfaa9fp-6, 0x1.1c6be3e4b753fp-6, 0x1.c6fd91a0492f3p-7, 0x1.8ec44c7ac3d6fp-7,
           0x1.abc36e0ae3d03p-8, 0x1.3ffd2becc9278p-6, -0x1.09e0fb41199b2p-6,
           0x1.05724dbdbb053p-5}};
}

// erf(x) / x - 1 in x^2, |x| <= 1.0; relative error of erf(x) 2^-29.39
constexpr list<double, 7> erf_near_f32() {
  return {{0x1.06eba8p-3, -0x1.81273ep-2, 0x1.ce2ce6p-4, -0x1.b7f71ap-6, 0x1.53f224p-8,
           -0x1.a3515ep-11, 0x1.4771fcp-14}};
}

// the middle of the far interval
constexpr list<double, 1> erf_centre_f32() { return {{0x1.4p+1}}; }

// log(erfc(x)) + x^2 in x - centre; error of erf(x) 2^-31.88
constexpr list<double, 8> erf_far_f32() {
  return {{-0x1.8e8b7ap+0, -0x1.69263ep-2, 0x1.cb8bf2p-5, -0x1.63d67ap-7, 0x1.1deed2p-9,
           -0x1.aa26e4p-12, 0x1.3cc9f4p-14, -0x1.3e3992p-16}};
}

// erf(x) / x - 1 in x^2, |x| <= 1.5; relative error of erf(x) 2^-56.33
constexpr list<double, 16> erf_near_f64() {
  return {{0x1.06eba8214db69p-3, -0x1.812746b037a03p-2, 0x1.ce2f21a043583p-4, -0x1.b82ce3129d827p-6,
           0x1.565bcd0fc7a58p-8, -0x1.c02db4168c6a4p-11, 0x1.f9a32745aec3p-14,
           -0x1.f4d24ce506addp-17, 0x1.b9e5775e1026ep-20, -0x1.5f65a0f34b516p-23,
           0x1.fbf9d068543d3p-27, -0x1.4e154dcd50928p-30, 0x1.8631ce181387bp-34,
           -0x1.6f91266ce109ap-38, 0x1.a8e298a29913dp-43, -0x1.4fa75a1746782p-50}};
}

// the middle of the far interval
constexpr list<double, 1> erf_centre_f64() { return {{0x1.ep+1}}; }

// log(erfc(x)) + x^2 in x - centre; error of erf(x) 2^-58.58
constexpr list<double, 19> erf_far_f64() {
  return {
      {-0x1.ed4d6e22b55dap+0, -0x1.0069ec1d35573p-2, 0x1.e584a10a3867ap-6, -0x1.22c70a8d59d9ap-8,
       0x1.747b1b4060ee9p-11, -0x1.e3ce478f533b2p-14, 0x1.367ac7c3bef5bp-16, -0x1.82f4a9501c847p-19,
       0x1.cc7948ef3e956p-22, -0x1.ff57ffb84a89bp-25, 0x1.fcf616d4e9aecp-28, -0x1.9b76645a6018p-31,
       0x1.29ec9b4e90f61p-35, 0x1.7266e8a1ad0dfp-37, -0x1.f7269918b7998p-39, 0x1.9e90e043adc08p-41,
       -0x1.e9170f169ab5ep-43, 0x1.c75edf27da9fbp-45, -0x1.31c755995486bp-48}};
}

} // namespace rnn::coefficients
