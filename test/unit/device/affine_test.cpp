// Products of Jacobians, their guard, and the scan over the defects, against dense matrices.
#include "harness.hpp"

namespace {

using rnn::at;

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

template <class Pattern>
std::vector<double> dense(const double (&numbers)[Pattern::size]) {
  constexpr int k = Pattern::states;
  std::vector<double> matrix(k * k);
  for (int i = 0; i < k; ++i) {
    for (int j = 0; j < k; ++j) {
      matrix[i * k + j] =
          Pattern::contains(i, j) ? Pattern::sign(i, j) * numbers[Pattern::position(i, j)] : 0;
    }
  }
  return matrix;
}

template <class Entries, class Carry>
void check_products() {
  constexpr int k = Carry::states;
  static_assert(Carry::closed() && Entries::template within<Carry>());
  std::mt19937 random(3);
  std::uniform_int_distribution<int> small(-9, 9); // all products are exact
  double jacobian[Entries::size], carry[Carry::size], product[Carry::size];
  for (double& x : jacobian) {
    x = small(random);
  }
  for (double& x : carry) {
    x = small(random);
  }
  rnn::multiply<Entries, Carry>(jacobian, carry, product);
  const std::vector<double> a = dense<Entries>(jacobian), b = dense<Carry>(carry),
                            got = dense<Carry>(product);
  for (int i = 0; i < k; ++i) {
    for (int j = 0; j < k; ++j) {
      double sum = 0;
      for (int m = 0; m < k; ++m) {
        sum += a[i * k + m] * b[m * k + j];
      }
      EXPECT_EQ(got[i * k + j], sum) << i << "," << j;
    }
  }
  rnn::widen<Entries, Carry>(jacobian, carry);
  EXPECT_EQ(dense<Carry>(carry), a);
  rnn::identity<Carry>(carry);
  rnn::multiply<Entries, Carry>(jacobian, carry, product);
  EXPECT_EQ(dense<Carry>(product), a);
}

template <class... places>
using three = rnn::pattern<3, places...>;
using full =
    three<at<0, 0>, at<0, 1>, at<0, 2>, at<1, 0>, at<1, 1>, at<1, 2>, at<2, 0>, at<2, 1>, at<2, 2>>;
using diagonal = three<at<0, 0>, at<1, 1>, at<2, 2>>;
using lower = three<at<0, 0>, at<1, 0>, at<1, 1>, at<2, 0>, at<2, 1>, at<2, 2>>;
using chain = three<at<0, 0>, at<1, 0>, at<1, 1>, at<2, 1>, at<2, 2>>;
using shift = three<at<1, 0>, at<2, 1>>; // no diagonal: a companion block
using split = three<at<0, 0>, at<0, 2>, at<1, 1>, at<2, 0>, at<2, 2>>;

// Numbers that stand in several places.
using scalar = three<at<0, 0, 0>, at<1, 1, 0>, at<2, 2, 0>>;
using circulant = three<at<0, 0, 0>, at<0, 1, 1>, at<0, 2, 2>, at<1, 0, 2>, at<1, 1, 0>,
                        at<1, 2, 1>, at<2, 0, 1>, at<2, 1, 2>, at<2, 2, 0>>;
using complex = rnn::pattern<2, at<0, 0, 0>, at<0, 1, 1>, at<1, 0, 1, -1>, at<1, 1, 0>>;
using turn = rnn::pattern<2, at<0, 1, 0>, at<1, 0, 0, -1>>; // a complex number without real part

TEST(Affine, SharedNumbers) {
  static_assert(scalar::size == 1 && circulant::size == 3 && complex::size == 2);
  check_products<scalar, scalar>();
  check_products<scalar, full>();
  check_products<circulant, circulant>();
  check_products<scalar, circulant>();
  check_products<complex, complex>();
  check_products<turn, complex>();
  // The identity, or a product of two, has not the form.
  static_assert(!turn::closed());
  static_assert(!rnn::pattern<2, at<0, 0, 0>, at<0, 1, 1>, at<1, 0, 2>, at<1, 1, 0>>::closed());
  static_assert(!rnn::pattern<2, at<0, 0, 0>, at<1, 1, 0, -1>>::closed());
  static_assert(!rnn::pattern<2, at<0, 0, 0>, at<1, 0, 0>, at<1, 1, 1>>::closed());
}

TEST(Affine, Products) {
  check_products<full, full>();
  check_products<diagonal, diagonal>();
  check_products<lower, lower>();
  check_products<chain, lower>();
  check_products<shift, lower>();
  check_products<split, split>();
  check_products<diagonal, full>();
  static_assert(!chain::closed() && !shift::closed() && !lower::within<split>());
}

TEST(Affine, Same) {
  EXPECT_TRUE(rnn::same(nan, -nan));
  EXPECT_FALSE(rnn::same(0.0, -0.0));
  EXPECT_FALSE(rnn::same(nan, 1.0));
  EXPECT_TRUE(rnn::same(-inf, -inf));
}

TEST(Affine, Mismatch) {
  EXPECT_EQ(rnn::mismatch(nan, nan), 0);
  EXPECT_EQ(rnn::mismatch(inf, inf), 0);
  EXPECT_GT(rnn::mismatch(0.0, -0.0), 0);
  EXPECT_EQ(rnn::mismatch(nan, 1.0), inf);
  EXPECT_EQ(rnn::mismatch(1.0, nan), inf);
  EXPECT_EQ(rnn::mismatch(inf, 1.0), inf);
  EXPECT_EQ(rnn::mismatch(1.0, inf), inf);
  EXPECT_EQ(rnn::mismatch(5.0, 3.0), 0.5);
  EXPECT_EQ(rnn::mismatch(5.0f, -3.0f), 2);
}

/// Three states, lower triangular, five chunks; one lane of the block is looked at.
template <class real, class math>
struct triangular {
  static constexpr int states = 3, inputs = 0, params = 0, outputs = 0;
  using carry = lower;
};

class Scan : public testing::Test {
protected:
  static constexpr int k = 3, chunks = 5, lane = 17;
  using cell = triangular<double, void>;
  using policy = device_test::policy<32, chunks, 1>;

  void SetUp() override {
    std::mt19937 random(11);
    std::uniform_int_distribution<int> small(-3, 3);
    for (int w = 0; w < chunks; ++w) {
      for (auto* numbers : {start[w], end[w]}) {
        std::generate_n(numbers, k, [&] { return small(random); });
      }
      std::generate_n(carry[w], lower::size, [&] { return small(random); });
    }
  }

  std::vector<double> corrected(int chunk) {
    std::vector<double> memory((2 * k + lower::size + 1) * chunks * 32, nan);
    rnn::exchange<cell, policy, double> others(memory.data(), lane);
    for (int w = 0; w < chunks; ++w) {
      others.publish(w, start[w], end[w], carry[w]);
    }
    double u[k];
    others.correct(chunk, u);
    return {u, u + k};
  }

  double start[chunks][k], end[chunks][k], carry[chunks][lower::size];
};

TEST_F(Scan, IsNewtonsStep) {
  double defect[k] = {};
  for (int w = 0; w + 1 < chunks; ++w) {
    const std::vector<double> a = dense<lower>(carry[w]);
    std::vector<double> moved(k);
    double next[k];
    for (int i = 0; i < k; ++i) {
      double sum = 0;
      for (int j = 0; j < k; ++j) {
        sum += a[i * k + j] * defect[j];
      }
      moved[i] = end[w][i] + sum;
      next[i] = end[w][i] - start[w + 1][i] + sum;
    }
    EXPECT_EQ(corrected(w + 1), moved) << w;
    std::copy(next, next + k, defect);
  }
}

TEST_F(Scan, NothingPassesThroughAZeroDefect) {
  std::copy(end[0], end[0] + k, start[1]); // d_2 = 0
  std::fill(carry[0], carry[0] + lower::size, inf);
  std::fill(carry[1], carry[1] + lower::size, nan);
  EXPECT_EQ(corrected(2), std::vector<double>(end[1], end[1] + k));
}

TEST_F(Scan, RowsThatAreNotFiniteAreDropped) {
  std::copy(end[0], end[0] + k, start[1]);
  start[1][0] += 1; // d_2 = (-1, 0, 0)
  carry[1][lower::position(1, 0)] = inf;
  carry[1][lower::position(0, 0)] = 2;
  carry[1][lower::position(2, 0)] = nan;
  EXPECT_EQ(corrected(2), (std::vector<double>{end[1][0] - 2, end[1][1], end[1][2]}));
}

TEST_F(Scan, ATermWithoutADefectDoesNotSpoilItsRow) {
  std::copy(end[0], end[0] + k, start[1]);
  start[1][0] += 1; // d_2 = (-1, 0, 0)
  carry[1][lower::position(0, 0)] = 1;
  carry[1][lower::position(1, 0)] = 2;
  carry[1][lower::position(1, 1)] = inf;
  carry[1][lower::position(2, 0)] = 3;
  carry[1][lower::position(2, 1)] = nan;
  EXPECT_EQ(corrected(2), (std::vector<double>{end[1][0] - 1, end[1][1] - 2, end[1][2] - 3}));
}

TEST_F(Scan, StrangeStatesThatAgreeHaveNoDefect) {
  carry[1][lower::position(1, 0)] = 1;
  carry[1][lower::position(1, 1)] = 2;
  carry[1][lower::position(2, 1)] = 3;
  for (double odd : {nan, inf, -inf, -0.0}) {
    start[1][0] = end[0][0] = odd;
    start[1][1] = end[0][1] + 1; // d_2 = (0, -1, 0)
    start[1][2] = end[0][2];
    EXPECT_EQ(corrected(2), (std::vector<double>{end[1][0], end[1][1] - 2, end[1][2] - 3}));
  }
}

} // namespace
