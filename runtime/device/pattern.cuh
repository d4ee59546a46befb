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

/// A place of a matrix.
template <int i, int j>
struct at {
  enum { row = i, column = j };
};

/// The places of a k x k matrix that are not identically zero, row-major. The numbers of such a
/// matrix are an array of length `size`.
template <int k, class... places>
struct pattern {
  enum { states = k, size = sizeof...(places) };

  static constexpr int position(int i, int j) {
    return ((places::row * k + places::column < i * k + j ? 1 : 0) + ... + 0);
  }
  static constexpr bool contains(int i, int j) {
    return ((places::row == i && places::column == j) || ... || false);
  }
  /// Transitively closed, and the diagonal is there: a product of two has the pattern again.
  static constexpr bool closed() {
    for (int i = 0; i < k; ++i) {
      for (int j = 0; j < k; ++j) {
        for (int m = 0; m < k; ++m) {
          if (!contains(i, i) || (contains(i, m) && contains(m, j) && !contains(i, j))) {
            return false;
          }
        }
      }
    }
    return true;
  }
  /// Every place of it is one of Other's.
  template <class Other>
  static constexpr bool within() {
    return (Other::contains(places::row, places::column) && ... && true);
  }
};

} // namespace rnn
