//===- algebra_test.cpp - the numbers of a product of Jacobians ------------------------------===//

#include "Analysis/CarryAlgebra.h"

#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>

#include <random>

using namespace rnnc;

namespace {

/// A k x k matrix of signed values: 0 is no entry.
struct Form {
  int64_t k;
  std::vector<int64_t> at;

  CarryAlgebra algebra() const {
    llvm::SmallVector<int64_t> entries, values;
    for (int64_t place = 0; place < k * k; ++place)
      if (at[place]) {
        entries.append({place / k, place % k});
        values.push_back(at[place]);
      }
    return carryAlgebra(k, entries, values);
  }
};

int64_t countOf(const CarryAlgebra& algebra) {
  return *std::max_element(algebra.numbers.begin(), algebra.numbers.end());
}

/// Products of Jacobians with drawn values hold one number wherever the algebra says so, and
/// nothing elsewhere. Small whole values: all products are exact.
void checkProducts(const Form& form) {
  CarryAlgebra algebra = form.algebra();
  int64_t k = form.k;
  std::mt19937 random(7);
  std::uniform_int_distribution<int64_t> small(-2, 2);
  std::vector<int64_t> product(k * k, 0);
  for (int64_t i = 0; i < k; ++i)
    product[i * k + i] = 1;
  for (int length = 0; length < 6; ++length) {
    std::vector<int64_t> rest = product, number(countOf(algebra) + 1, INT64_MIN);
    for (size_t p = 0; p < algebra.numbers.size(); ++p) {
      int64_t place = algebra.places[2 * p] * k + algebra.places[2 * p + 1];
      int64_t sign = algebra.numbers[p] < 0 ? -1 : 1;
      int64_t& known = number[std::abs(algebra.numbers[p])];
      if (known == INT64_MIN)
        known = sign * product[place];
      EXPECT_EQ(product[place], sign * known) << "length " << length << ", place " << place;
      rest[place] = 0;
    }
    EXPECT_EQ(rest, std::vector<int64_t>(k * k, 0));
    std::vector<int64_t> value(k * k + 1), next(k * k, 0);
    for (int64_t& x : value)
      x = small(random);
    for (int64_t i = 0; i < k; ++i)
      for (int64_t m = 0; m < k; ++m)
        if (int64_t which = form.at[i * k + m])
          for (int64_t j = 0; j < k; ++j)
            next[i * k + j] += (which < 0 ? -1 : 1) * value[std::abs(which)] * product[m * k + j];
    product = next;
  }
}

struct Case {
  const char* name;
  Form form;
  int64_t numbers;
};

TEST(CarryAlgebra, FewestNumbers) {
  const std::vector<Case> cases = {
      {"scalar", {1, {1}}, 1},
      {"scalar times identity", {4, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}}, 1},
      {"complex", {2, {1, -2, 2, 1}}, 2},
      {"complex, turned the other way", {2, {1, 2, -2, 1}}, 2},
      {"hyperbolic", {2, {1, 2, 2, 1}}, 2},
      {"dual numbers", {2, {1, 0, 2, 1}}, 2},
      {"diagonal", {3, {1, 0, 0, 0, 2, 0, 0, 0, 3}}, 3},
      {"two of three alike", {3, {1, 0, 0, 0, 2, 0, 0, 0, 1}}, 2},
      {"one of two with a minus", {2, {1, 0, 0, -1}}, 2},
      {"triangular", {3, {1, 0, 0, 2, 3, 0, 4, 5, 6}}, 6},
      {"triangular, reordered", {3, {1, 2, 3, 0, 4, 0, 0, 5, 6}}, 6},
      {"circulant", {3, {1, 2, 3, 3, 1, 2, 2, 3, 1}}, 3},
      {"a shift in a circle", {4, {0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0}}, 4},
      {"quaternion", {4, {1, -2, -3, -4, 2, 1, -4, 3, 3, 4, 1, -2, 4, -3, 2, 1}}, 4},
      {"2x2 times identity", {4, {1, 0, 2, 0, 0, 1, 0, 2, 3, 0, 4, 0, 0, 3, 0, 4}}, 4},
      {"identity times 2x2", {4, {1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4}}, 4},
      {"two blocks", {4, {1, 0, 2, 0, 0, 3, 0, 4, 5, 0, 6, 0, 0, 7, 0, 8}}, 8},
      {"all alike", {3, {1, 1, 1, 1, 1, 1, 1, 1, 1}}, 2},
      {"companion", {2, {1, 2, 3, 0}}, 4},
      {"sums that cancel", {2, {1, 1, -1, -1}}, 4},
      {"alike, but not in a product", {2, {1, 1, 1, 2}}, 4},
      {"full", {2, {1, 2, 3, 4}}, 4},
      {"nothing", {2, {0, 0, 0, 0}}, 1},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(countOf(one.form.algebra()), one.numbers);
    checkProducts(one.form);
  }
}

TEST(CarryAlgebra, DrawnForms) {
  std::mt19937 random(3);
  for (int n = 0; n < 300; ++n) {
    int64_t k = 1 + n % 5;
    Form form{k, std::vector<int64_t>(k * k)};
    std::vector<int64_t> given; // values counted by first places
    for (int64_t& value : form.at) {
      int64_t drawn = std::uniform_int_distribution<int64_t>(-3, 3)(random);
      if (drawn == 0)
        continue;
      auto known = llvm::find(given, std::abs(drawn));
      value = (known - given.begin() + 1) * (known != given.end() && drawn < 0 ? -1 : 1);
      if (known == given.end())
        given.push_back(std::abs(drawn));
    }
    SCOPED_TRACE(n);
    checkProducts(form);
  }
}

} // namespace
