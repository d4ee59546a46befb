// Cells written by hand, as templates over the number type and the vector width: what the compiler
// emits for a .rnn file, without a compiler. The same step code serves every width, with and
// without the Jacobian, so that all schedules can be compared bit for bit.
#pragma once

#include "rnn/module.h"

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

namespace rnnc::test {

/// exp, tanh and sigmoid of plain arithmetic: the same bits alone and in a vector.
template <class F>
inline F expOf(F x) {
  using Bits = std::conditional_t<sizeof(F) == 4, uint32_t, uint64_t>;
  constexpr bool isFloat = sizeof(F) == 4;
  constexpr F limit = isFloat ? F(87) : F(700);
  constexpr F shift = isFloat ? F(12582912) : F(6755399441055744.0);
  x = x > limit ? limit : x;
  x = x < -limit ? -limit : x;
  const F shifted = x * F(1.4426950408889634) + shift;
  const F n = shifted - shift;
  const F r = (x - n * F(isFloat ? 0.693359375 : 0.693147180369123816490)) -
              n * F(isFloat ? -2.12194440e-4 : 1.90821492927058770002e-10);
  F poly = F(1) / 5040;
  for (F c : {F(1) / 720, F(1) / 120, F(1) / 24, F(1) / 6, F(1) / 2, F(1), F(1)}) {
    poly = poly * r + c;
  }
  Bits bits;
  std::memcpy(&bits, &shifted, sizeof(F));
  bits = (bits << (isFloat ? 23 : 52)) + (isFloat ? 0x3f800000u : Bits(0x3ff0000000000000u));
  F scale;
  std::memcpy(&scale, &bits, sizeof(F));
  return x != x ? x : poly * scale;
}
template <class F>
inline F sigmoid(F x) {
  return F(1) / (F(1) + expOf(-x));
}
template <class F>
inline F tanhOf(F x) {
  return F(1) - F(2) / (F(1) + expOf(x + x));
}

// Each cell: states K, inputs I, params P, outputs O, the carry's pattern, and
// step(s, x, p, next, y, J), where J (row-major over the pattern) may be left out.

struct ParaGru {
  static constexpr int K = 1, I = 3, P = 4, O = 0;
  static constexpr uint32_t pattern[][2] = {{0, 0}};
  template <bool J, class F>
  static void step(const F* s, const F* x, const F* p, F* next, F*, F* jac) {
    const F h = s[0];
    const F z = sigmoid(p[0] * h + x[0] + p[3]); // p[3]: the update gate's bias
    const F r = sigmoid(p[1] * h + x[1]);
    const F n = tanhOf(p[2] * (r * h) + x[2]);
    next[0] = (1 - z) * h + z * n;
    if constexpr (J) {
      const F dz = p[0] * z * (1 - z), dr = p[1] * r * (1 - r);
      const F dn = (1 - n * n) * p[2] * (dr * h + r);
      jac[0] = (1 - z) + dz * (n - h) + z * dn;
    }
  }
};

// State 0 is c, state 1 is h.
struct ParaLstm {
  static constexpr int K = 2, I = 3, P = 5, O = 0;
  static constexpr uint32_t pattern[][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  template <bool J, class F>
  static void step(const F* s, const F* x, const F* p, F* next, F*, F* jac) {
    const F c = s[0], h = s[1];
    const F f = sigmoid(p[0] * h + p[1] * c + x[0]);
    const F z = tanhOf(p[2] * h + x[1]);
    const F cn = f * c + (1 - f) * z;
    const F o = sigmoid(p[3] * h + p[4] * cn + x[2]);
    const F tc = tanhOf(cn);
    next[0] = cn;
    next[1] = o * tc;
    if constexpr (J) {
      const F df = f * (1 - f), dz = (1 - z * z) * p[2], d = o * (1 - o);
      const F cc = f + df * p[1] * (c - z), ch = df * p[0] * (c - z) + (1 - f) * dz;
      const F dt = o * (1 - tc * tc) + d * p[4] * tc;
      jac[0] = cc;
      jac[1] = ch;
      jac[2] = dt * cc;
      jac[3] = dt * ch + d * p[3] * tc;
    }
  }
};

// Four one-pole stages, each saturating, with feedback around all of them.
struct Ladder {
  static constexpr int K = 4, I = 1, P = 2, O = 1;
  static constexpr uint32_t pattern[][2] = {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 1},
                                            {1, 2}, {1, 3}, {2, 0}, {2, 1}, {2, 2}, {2, 3},
                                            {3, 0}, {3, 1}, {3, 2}, {3, 3}};
  template <bool J, class F>
  static void step(const F* s, const F* x, const F* p, F* next, F* y, F* jac) {
    const F g = p[0];
    const F drive = tanhOf(x[0] - p[1] * s[3]);
    F in = drive, row[4] = {0, 0, 0, -p[1] * (1 - drive * drive)};
    for (int i = 0; i < 4; ++i) {
      const F t = tanhOf(s[i]);
      next[i] = s[i] + g * (in - t);
      const F ti = tanhOf(next[i]);
      if constexpr (J) {
        for (int j = 0; j < 4; ++j) {
          row[j] = g * row[j] + (i == j ? 1 - g * (1 - t * t) : F(0));
          jac[4 * i + j] = row[j];
          row[j] = (1 - ti * ti) * row[j];
        }
      }
      in = ti;
    }
    y[0] = next[3] * F(.5) + s[0];
  }
};

struct Triangular {
  static constexpr int K = 2, I = 2, P = 2, O = 1;
  static constexpr uint32_t pattern[][2] = {{0, 0}, {1, 0}, {1, 1}};
  template <bool J, class F>
  static void step(const F* s, const F* x, const F* p, F* next, F* y, F* jac) {
    next[0] = p[0] * s[0] + x[0];
    next[1] = tanhOf(p[1] * s[1] + next[0] + x[1]);
    y[0] = next[0] - next[1];
    if constexpr (J) {
      const F d = 1 - next[1] * next[1];
      jac[0] = p[0];
      jac[1] = d * p[0];
      jac[2] = d * p[1];
    }
  }
};

struct Uncoupled {
  static constexpr int K = 2, I = 1, P = 2, O = 0;
  static constexpr uint32_t pattern[][2] = {{0, 0}, {1, 1}};
  template <bool J, class F>
  static void step(const F* s, const F* x, const F* p, F* next, F*, F* jac) {
    next[0] = tanhOf(p[0] * s[0] + x[0]);
    next[1] = p[1] * s[1] + x[0];
    if constexpr (J) {
      jac[0] = (1 - next[0] * next[0]) * p[0];
      jac[1] = p[1];
    }
  }
};

// Chaos; no input at all.
struct Logistic {
  static constexpr int K = 1, I = 0, P = 1, O = 0;
  static constexpr uint32_t pattern[][2] = {{0, 0}};
  template <bool J, class F>
  static void step(const F* s, const F*, const F* p, F* next, F*, F* jac) {
    next[0] = p[0] * s[0] * (1 - s[0]);
    if constexpr (J) {
      jac[0] = p[0] * (1 - 2 * s[0]);
    }
  }
};

struct Ema {
  static constexpr int K = 1, I = 1, P = 1, O = 0;
  static constexpr uint32_t pattern[][2] = {{0, 0}};
  template <bool J, class F>
  static void step(const F* s, const F* x, const F* p, F* next, F*, F* jac) {
    next[0] = p[0] * s[0] + (1 - p[0]) * x[0];
    if constexpr (J) {
      jac[0] = p[0];
    }
  }
};

// |J| = 1 hides nothing: every error at a boundary stays for ever.
struct CumulativeSum {
  static constexpr int K = 1, I = 1, P = 0, O = 1;
  static constexpr uint32_t pattern[][2] = {{0, 0}};
  template <bool J, class F>
  static void step(const F* s, const F* x, const F*, F* next, F* y, F* jac) {
    next[0] = s[0] + x[0];
    y[0] = s[0] - x[0];
    if constexpr (J) {
      jac[0] = 1;
    }
  }
};

// Grows to infinity, makes NaN of it, and comes back to 1 where the input says so.
struct Explosive {
  static constexpr int K = 1, I = 1, P = 0, O = 0;
  static constexpr uint32_t pattern[][2] = {{0, 0}};
  template <bool J, class F>
  static void step(const F* s, const F* x, const F*, F* next, F*, F* jac) {
    const bool reset = x[0] > F(1.5);
    next[0] = reset ? F(1) : s[0] * s[0] * 4 - s[0] * 2 + x[0];
    if constexpr (J) {
      jac[0] = reset ? F(0) : 8 * s[0] - 2;
    }
  }
};

/// Vector steps that kernels ran: (steps of each call) summed. Tests of the cost read it.
inline std::atomic<int64_t> shotSteps{0};
/// Those of them with the Jacobian.
inline std::atomic<int64_t> jacobianSteps{0};
/// Called at the start of every shot where set; only for calls on one thread.
inline std::function<void()> onShot;

/// Ways to get the product of the Jacobians wrong. The answer stays right; only the sweeps tell.
enum class Wrong { Nothing, Zeroed, Transposed, Reversed };

template <class Cell, class F, int W, bool J, Wrong wrong = Wrong::Nothing>
void kernel(const rnn_shoot_args* a) {
  constexpr int carry = std::size(Cell::pattern);
  shotSteps.fetch_add(a->steps, std::memory_order_relaxed);
  jacobianSteps.fetch_add(J ? a->steps : 0, std::memory_order_relaxed);
  if (onShot) {
    onShot();
  }
  F s[Cell::K][W], product[carry][W], finite[W];
  const F* params = static_cast<const F*>(a->params);
  std::memcpy(s, a->state, sizeof(s));
  for (int j = 0; j < W; ++j) {
    finite[j] = 0;
    for (int c = 0; c < carry; ++c) {
      product[c][j] = Cell::pattern[c][0] == Cell::pattern[c][1] ? F(1) : F(0);
    }
  }
  int place[Cell::K][Cell::K];
  std::memset(place, -1, sizeof(place));
  for (int c = 0; c < carry; ++c) {
    place[Cell::pattern[c][0]][Cell::pattern[c][1]] = c;
  }
  for (int64_t t = 0; t < a->steps; ++t) {
    for (int j = 0; j < W; ++j) {
      F s1[Cell::K], x[Cell::I + 1], p[Cell::P + 1], next[Cell::K], y[Cell::O + 1], jac[carry];
      for (int i = 0; i < Cell::K; ++i) {
        s1[i] = s[i][j];
      }
      for (int i = 0; i < Cell::I; ++i) {
        x[i] = static_cast<const F*>(a->inputs[i])[t * a->input_strides[i] + j];
      }
      for (int i = 0; i < Cell::P; ++i) {
        p[i] = params[i * W + j];
      }
      Cell::template step<J>(s1, x, p, next, y, jac);
      for (int i = 0; i < Cell::K; ++i) {
        s[i][j] = next[i];
        finite[j] += next[i] * 0;
        static_cast<F*>(a->outputs[i])[t * a->output_strides[i] + j] = next[i];
      }
      for (int i = 0; i < Cell::O; ++i) {
        static_cast<F*>(a->outputs[Cell::K + i])[t * a->output_strides[Cell::K + i] + j] = y[i];
      }
      if constexpr (J) {
        F old[carry];
        for (int c = 0; c < carry; ++c) {
          old[c] = product[c][j];
        }
        for (int c = 0; c < carry; ++c) {
          F sum = 0;
          for (int m = 0; m < Cell::K; ++m) {
            const int left = place[Cell::pattern[c][0]][m], right = place[m][Cell::pattern[c][1]];
            if (left >= 0 && right >= 0) {
              sum += wrong == Wrong::Reversed ? old[left] * jac[right] : jac[left] * old[right];
            }
          }
          product[c][j] = sum;
        }
      }
    }
  }
  std::memcpy(a->state, s, sizeof(s));
  std::memcpy(a->finite, finite, sizeof(finite));
  if constexpr (J) {
    F* out = static_cast<F*>(a->carry);
    for (int c = 0; c < carry; ++c) {
      const int from =
          wrong == Wrong::Transposed ? place[Cell::pattern[c][1]][Cell::pattern[c][0]] : c;
      for (int j = 0; j < W; ++j) {
        out[c * W + j] = wrong == Wrong::Zeroed ? F(0) : product[from][j];
      }
    }
  }
}

/// A cell without its types: what the harness needs.
struct CellInfo {
  const char* name;
  int states, inputs, params, outputs;
  std::vector<rnn_carry_place> carry;
  std::vector<rnn_cpu_kernel> kernels;
  void (*step32)(const float* s, const float* x, const float* p, float* next, float* y);
  void (*step64)(const double* s, const double* x, const double* p, double* next, double* y);
  bool linear = false, constant = false; ///< what the table says of the Jacobian
};

template <class Cell, class F>
void referenceStep(const F* s, const F* x, const F* p, F* next, F* y) {
  Cell::template step<false>(s, x, p, next, y, static_cast<F*>(nullptr));
}

template <class Cell, class F, int W, Wrong wrong = Wrong::Nothing>
rnn_cpu_kernel makeKernel() {
  return {sizeof(F) == 4 ? RNN_F32 : RNN_F64, W, kernel<Cell, F, W, false>,
          kernel<Cell, F, W, true, wrong>};
}

template <class Cell>
CellInfo makeCell(const char* name) {
  CellInfo cell{name,
                Cell::K,
                Cell::I,
                Cell::P,
                Cell::O,
                {},
                {},
                referenceStep<Cell, float>,
                referenceStep<Cell, double>};
  for (const auto& place : Cell::pattern) {
    cell.carry.push_back(
        {uint32_t(place[0]), uint32_t(place[1]), static_cast<uint32_t>(cell.carry.size()), 1});
  }
  cell.kernels = {makeKernel<Cell, float, 4>(), makeKernel<Cell, float, 16>(),
                  makeKernel<Cell, double, 2>(), makeKernel<Cell, double, 8>()};
  return cell;
}

/// All of the above.
const std::vector<CellInfo>& allCells();
const CellInfo& cellNamed(const char* name);

} // namespace rnnc::test
