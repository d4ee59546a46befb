//===- Limits.cpp - values that must be exact ------------------------------------------------===//

#include "Functions.h"

#include <cmath>
#include <limits>

using namespace elementary;

static constexpr double kInf = std::numeric_limits<double>::infinity();
static const double kNan = std::nan("");

static const Limit kLimits[] = {{"exp", 0., 0, 1},           {"exp", -0., 0, 1},
                                {"exp", kInf, 0, kInf},      {"exp", -kInf, 0, 0},
                                {"exp", kNan, 0, kNan},      {"exp", 1e30, 0, kInf},
                                {"exp", -1e30, 0, 0},        {"expm1", -0., 0, -0.},
                                {"expm1", kInf, 0, kInf},    {"expm1", -kInf, 0, -1},
                                {"expm1", kNan, 0, kNan},    {"log", 0., 0, -kInf},
                                {"log", -0., 0, -kInf},      {"log", 1, 0, 0},
                                {"log", kInf, 0, kInf},      {"log", -1, 0, kNan},
                                {"log", -kInf, 0, kNan},     {"log", kNan, 0, kNan},
                                {"log1p", -0., 0, -0.},      {"log1p", -1, 0, -kInf},
                                {"log1p", -2, 0, kNan},      {"log1p", kInf, 0, kInf},
                                {"log1p", kNan, 0, kNan},    {"tanh", 0., 0, 0.},
                                {"tanh", -0., 0, -0.},       {"tanh", kInf, 0, 1},
                                {"tanh", -kInf, 0, -1},      {"tanh", 1e30, 0, 1},
                                {"tanh", -1e30, 0, -1},      {"tanh", kNan, 0, kNan},
                                {"sigmoid", 0., 0, .5},      {"sigmoid", -0., 0, .5},
                                {"sigmoid", kInf, 0, 1},     {"sigmoid", -kInf, 0, 0},
                                {"sigmoid", 1e30, 0, 1},     {"sigmoid", -1e30, 0, 0},
                                {"sigmoid", kNan, 0, kNan},  {"softplus", kInf, 0, kInf},
                                {"softplus", -kInf, 0, 0},   {"softplus", 1e30, 0, 1e30},
                                {"softplus", kNan, 0, kNan}, {"sin", 0., 0, 0.},
                                {"sin", -0., 0, -0.},        {"sin", kInf, 0, kNan},
                                {"sin", -kInf, 0, kNan},     {"sin", kNan, 0, kNan},
                                {"cos", 0., 0, 1},           {"cos", -0., 0, 1},
                                {"cos", kInf, 0, kNan},      {"cos", -kInf, 0, kNan},
                                {"cos", kNan, 0, kNan},      {"tan", -0., 0, -0.},
                                {"tan", kInf, 0, kNan},      {"tan", kNan, 0, kNan},
                                {"asin", -0., 0, -0.},       {"asin", 2, 0, kNan},
                                {"asin", kInf, 0, kNan},     {"acos", 1, 0, 0},
                                {"acos", -2, 0, kNan},       {"acos", kNan, 0, kNan},
                                {"atan", -0., 0, -0.},       {"atan", kNan, 0, kNan},
                                {"sinh", -0., 0, -0.},       {"sinh", kInf, 0, kInf},
                                {"sinh", -kInf, 0, -kInf},   {"sinh", kNan, 0, kNan},
                                {"cosh", 0., 0, 1},          {"cosh", -kInf, 0, kInf},
                                {"cosh", kNan, 0, kNan},     {"erf", -0., 0, -0.},
                                {"erf", kInf, 0, 1},         {"erf", -kInf, 0, -1},
                                {"erf", kNan, 0, kNan},      {"rsqrt", 0., 0, kInf},
                                {"rsqrt", -0., 0, -kInf},    {"rsqrt", kInf, 0, 0},
                                {"rsqrt", 4, 0, .5},         {"rsqrt", -1, 0, kNan},
                                {"sign", -0., 0, -0.},       {"sign", -3, 0, -1},
                                {"sign", kNan, 0, kNan},     {"atan2", 0., 1, 0.},
                                {"atan2", -0., 1, -0.},      {"atan2", -0., 0., -0.},
                                {"atan2", 1, kInf, 0},       {"atan2", -1, kInf, -0.},
                                {"atan2", kNan, 1, kNan},    {"atan2", 1, kNan, kNan},
                                {"pow", kNan, 0., 1},        {"pow", 1, kNan, 1},
                                {"pow", -1, kInf, 1},        {"pow", -1, -kInf, 1},
                                {"pow", -8, 3, -512},        {"pow", -8, .5, kNan},
                                {"pow", 0., -3, kInf},       {"pow", -0., -3, -kInf},
                                {"pow", -0., -2, kInf},      {"pow", -0., 3, -0.},
                                {"pow", -0., .5, 0},         {"pow", -kInf, 3, -kInf},
                                {"pow", -kInf, -3, -0.},     {"pow", -kInf, .5, kInf},
                                {"pow", .5, kInf, 0},        {"pow", .5, -kInf, kInf},
                                {"pow", 2, kInf, kInf},      {"pow", 2, -kInf, 0},
                                {"pow", 2, 10, 1024},        {"pow", kNan, 2, kNan},
                                {"pow", 2, kNan, kNan},      {"pow", kInf, -2, 0},
                                {"pow", 1e30, 1e30, kInf}};

std::span<const Limit> elementary::limits() { return kLimits; }
