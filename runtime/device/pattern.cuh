// Lists of places known at compile time, and loops over them whose index is a constant.
//
// Arrays that live in registers may be indexed by constants only; these loops guarantee it, where
// an unrolled loop merely makes it likely. Here and elsewhere constants are enumerators: a static
// member would be a variable in the PTX.
#pragma once

namespace rnn {

template <int n>
struct constant {
  enum { value = n };
  __device__ constexpr operator int() const { return n; }
};

template <int... numbers>
struct sequence {};

template <int n, int... numbers>
struct make_sequence : make_sequence<n - 1, n - 1, numbers...> {};
template <int... numbers>
struct make_sequence<0, numbers...> {
  using type = sequence<numbers...>;
};

template <class F, int... numbers>
__device__ __forceinline__ void each_of(sequence<numbers...>, F&& f) {
  (f(constant<numbers>()), ...);
}

/// f(constant<0>()), ..., f(constant<n - 1>()).
template <int n, class F>
__device__ __forceinline__ void each(F&& f) {
  each_of(typename make_sequence<n>::type(), f);
}

/// f(constant<0>()), f(constant<1>()), ... as long as it returns true.
template <class F, int... numbers>
__device__ __forceinline__ void each_while_of(sequence<numbers...>, F&& f) {
  static_cast<void>((f(constant<numbers>()) && ... && true));
}

template <int n, class F>
__device__ __forceinline__ void each_while(F&& f) {
  each_while_of(typename make_sequence<n>::type(), f);
}

/// Numbers in ascending order.
template <int... numbers>
struct indices {
  enum { size = sizeof...(numbers) };
  /// How many are less than n: the position of n, if it is there.
  static constexpr int position(int n) { return ((numbers < n ? 1 : 0) + ... + 0); }
  static constexpr bool contains(int n) { return ((numbers == n) || ... || false); }
};

/// A place of a matrix: `sign` times number n of its numbers; without n, of one of its own.
template <int i, int j, int n = -1, int s = 1>
struct at {
  enum { row = i, column = j, number = n, sign = s };
};

/// The places of a k x k matrix that are not identically zero, row-major. The numbers of such a
/// matrix are an array of length `size`; places that hold the same one share it. Either all places
/// name their number, counted by first places, or none does.
template <int k, class... places>
struct pattern {
  enum { states = k };

private:
  /// Number and sign of every place; sign 0: not there.
  struct table {
    int number[k * k], sign[k * k];
    int size;
  };
  static constexpr table all() {
    table t = {};
    int next = 0;
    const auto add = [&](int place, int named, int sign) {
      t.number[place] = named >= 0 ? named : next;
      t.sign[place] = sign;
      next = t.number[place] >= next ? t.number[place] + 1 : next;
    };
    (add(places::row * k + places::column, places::number, places::sign), ...);
    t.size = next;
    return t;
  }

public:
  enum { size = all().size };

  static constexpr bool contains(int i, int j) { return sign(i, j) != 0; }
  /// The number at a place that is there, and its sign.
  static constexpr int position(int i, int j) { return all().number[i * k + j]; }
  static constexpr int sign(int i, int j) { return all().sign[i * k + j]; }
  /// Is it the first place of its number?
  static constexpr bool first(int i, int j) {
    const table t = all();
    return first_of(t, t.number[i * k + j]) == i * k + j;
  }
  /// The identity and a product of two such matrices are such matrices.
  static constexpr bool closed() {
    const table t = all();
    for (int place = 0; place < k * k; ++place) {
      const int i = place / k, j = place % k;
      const int other = t.sign[place] ? first_of(t, t.number[place]) : place;
      // How often a product has left number a times right number b: the same at both places.
      int terms[size * size] = {};
      bool none = i != j;
      for (int m = 0; m < k; ++m) {
        const int left = i * k + m, right = m * k + j;
        const int left_too = other / k * k + m, right_too = m * k + other % k;
        none = none && t.sign[left] * t.sign[right] == 0;
        terms[t.number[left] * size + t.number[right]] += t.sign[left] * t.sign[right];
        terms[t.number[left_too] * size + t.number[right_too]] -=
            t.sign[place] * t.sign[left_too] * t.sign[right_too];
      }
      if (t.sign[place] == 0 ? !none : !vanish(terms) || !alike_in_identity(t, place, other)) {
        return false;
      }
    }
    return true;
  }
  /// Every place of it is one of Other's.
  template <class Other>
  static constexpr bool within() {
    return (Other::contains(places::row, places::column) && ... && true);
  }

private:
  static constexpr int first_of(const table& t, int number) {
    int place = 0;
    while (t.sign[place] == 0 || t.number[place] != number) {
      ++place;
    }
    return place;
  }
  static constexpr bool vanish(const int (&terms)[size * size]) {
    for (int term : terms) {
      if (term != 0) {
        return false;
      }
    }
    return true;
  }
  static constexpr bool alike_in_identity(const table& t, int place, int other) {
    const bool is_one = place % (k + 1) == 0;
    return is_one == (other % (k + 1) == 0) && (!is_one || t.sign[place] == 1);
  }
};

} // namespace rnn
