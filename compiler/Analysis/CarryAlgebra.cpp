//===- CarryAlgebra.cpp - the numbers of a product of Jacobians ------------------------------===//
//
// Products of the Jacobian for random values, modulo a prime, propose which places hold the same
// number: places that differ in one of them differ. The proposal is then refined until it is
// proved: the identity and the Jacobian have the form, and of the product of two matrices of the
// form, as polynomials in their numbers, places that share a number have the same one. Every place
// by itself is such a form, so the refinement ends.

#include "Analysis/CarryAlgebra.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/BitVector.h"

#include <map>
#include <tuple>
#include <vector>

using namespace mlir;
using namespace rnnc;

namespace {

constexpr uint64_t kPrime = (uint64_t(1) << 31) - 1;
constexpr int kChains = 4; // of random products

/// Numbers that look random and are the same in every run.
struct Random {
  uint64_t state = 1;
  uint64_t operator()() {
    state += 0x9e3779b97f4a7c15;
    uint64_t z = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % kPrime;
  }
};

/// What a place holds as a polynomial in the numbers of the factors: (left, right) to coefficient.
using Form = std::map<std::pair<int64_t, int64_t>, int64_t>;

class Partition {
public:
  Partition(int64_t k, ArrayRef<int64_t> entries, ArrayRef<int64_t> values);

  void propose();
  void refine();
  CarryAlgebra result() const;

private:
  void multiplyRandom(std::vector<uint64_t>& matrix, Random& random) const;
  Form form(int64_t place) const;
  template <typename Key>
  int64_t split(const std::vector<Key>& keys);

  int64_t k, values = 0;
  std::vector<int64_t> places;      // row * k + column, ascending
  std::vector<int64_t> indexAt;     // of a matrix's element among the places; -1: identically zero
  std::vector<int64_t> valueAt;     // of the Jacobian, signed; 0: none
  std::vector<int64_t> group, sign; // of each place
};

} // namespace

/// The places that a product can have, and those of the identity: the reflexive transitive closure
/// of the entries (Warshall).
Partition::Partition(int64_t k, ArrayRef<int64_t> entries, ArrayRef<int64_t> signedValues)
    : k(k), indexAt(k * k, -1), valueAt(k * k, 0) {
  SmallVector<llvm::BitVector> reach(k, llvm::BitVector(k));
  for (int64_t i = 0; i < k; ++i)
    reach[i].set(i);
  for (auto [i, value] : llvm::enumerate(signedValues)) {
    reach[entries[2 * i]].set(entries[2 * i + 1]);
    valueAt[entries[2 * i] * k + entries[2 * i + 1]] = value;
    values = std::max(values, value);
  }
  for (int64_t via = 0; via < k; ++via)
    for (int64_t row = 0; row < k; ++row)
      if (reach[row].test(via))
        reach[row] |= reach[via];
  for (int64_t row = 0; row < k; ++row)
    for (int column : reach[row].set_bits()) {
      indexAt[row * k + column] = places.size();
      places.push_back(row * k + column);
    }
}

/// matrix = J matrix, for a Jacobian of random values.
void Partition::multiplyRandom(std::vector<uint64_t>& matrix, Random& random) const {
  std::vector<uint64_t> value(values + 1), product(k * k, 0);
  for (uint64_t& number : value)
    number = random();
  for (int64_t i = 0; i < k; ++i)
    for (int64_t m = 0; m < k; ++m) {
      int64_t which = valueAt[i * k + m];
      if (which == 0)
        continue;
      uint64_t entry = which > 0 ? value[which] : kPrime - value[-which];
      for (int64_t j = 0; j < k; ++j)
        product[i * k + j] = (product[i * k + j] + entry * matrix[m * k + j]) % kPrime;
    }
  matrix = std::move(product);
}

/// Groups places by what random products hold there, up to the sign.
void Partition::propose() {
  std::vector<std::vector<uint64_t>> samples(places.size());
  Random random;
  for (int chain = 0; chain < kChains; ++chain) {
    std::vector<uint64_t> matrix(k * k, 0);
    for (int64_t i = 0; i < k; ++i)
      matrix[i * k + i] = 1;
    for (int64_t length = 0; length <= k; ++length) {
      for (auto [place, sample] : llvm::zip(places, samples))
        sample.push_back(matrix[place]);
      multiplyRandom(matrix, random);
    }
  }
  group.assign(places.size(), 0);
  sign.assign(places.size(), 1);
  for (auto [i, sample] : llvm::enumerate(samples)) {
    auto first = llvm::find_if(sample, [](uint64_t x) { return x != 0; });
    if (first == sample.end()) {
      sample.push_back(i); // sums that cancel: a number of its own
    } else if (*first > kPrime / 2) {
      sign[i] = -1;
      for (uint64_t& x : sample)
        x = (kPrime - x) % kPrime;
    }
  }
  split(samples);
}

/// Splits groups where their places have different keys; returns how many groups there are. Groups
/// are numbered by their first places.
template <typename Key>
int64_t Partition::split(const std::vector<Key>& keys) {
  std::map<std::pair<int64_t, Key>, int64_t> names;
  for (auto [i, key] : llvm::enumerate(keys))
    group[i] = names.try_emplace({group[i], key}, names.size()).first->second;
  return names.size();
}

Form Partition::form(int64_t place) const {
  int64_t row = places[place] / k, column = places[place] % k;
  Form sum;
  for (int64_t m = 0; m < k; ++m) {
    int64_t left = indexAt[row * k + m], right = indexAt[m * k + column];
    if (left >= 0 && right >= 0)
      sum[{group[left], group[right]}] += sign[place] * sign[left] * sign[right];
  }
  std::erase_if(sum, [](const auto& term) { return term.second == 0; });
  return sum;
}

void Partition::refine() {
  std::vector<std::pair<int64_t, int64_t>> given; // what the Jacobian and the identity have there
  for (auto [i, place] : llvm::enumerate(places))
    given.push_back({sign[i] * valueAt[place], place / k == place % k ? sign[i] : 0});
  int64_t count = split(given), before = 0;
  while (count != before) {
    before = count;
    std::vector<Form> forms;
    for (size_t i = 0; i < places.size(); ++i)
      forms.push_back(form(i));
    count = split(forms);
  }
}

CarryAlgebra Partition::result() const {
  CarryAlgebra algebra;
  std::vector<int64_t> firstSign; // of each group
  for (auto [i, place] : llvm::enumerate(places)) {
    if (group[i] == static_cast<int64_t>(firstSign.size()))
      firstSign.push_back(sign[i]);
    algebra.places.append({place / k, place % k});
    algebra.numbers.push_back((group[i] + 1) * sign[i] * firstSign[group[i]]);
  }
  return algebra;
}

CarryAlgebra rnnc::carryAlgebra(int64_t k, ArrayRef<int64_t> entries, ArrayRef<int64_t> values) {
  Partition partition(k, entries, values);
  partition.propose();
  partition.refine();
  return partition.result();
}
