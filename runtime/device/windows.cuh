// Earlier inputs: which array an input reads, how many steps ago, and where a chunk keeps it.
//
// What the inputs of a chunk read of one array is kept once: a *window* of consecutive steps, the
// chunk's own and a halo before them. Inputs that are a chunk's length or more apart have windows
// of their own, since what lies between would only be copied. Host and device compute with this.
#pragma once

namespace rnn {

/// An input of a cell: x[t - back] of the array of input `source`, the first one that reads it.
template <int source_, int back_>
struct read {
  enum { source = source_, back = back_ };
};

/// Lays windows for chunks of `steps` steps, one row a step, and returns the number of rows. Of
/// every input: `head`, the one that reads its window latest; `row`, that of the chunk's first
/// step; `span`, for a head: rows of the halo, which lie in front of its own.
constexpr int lay_windows(const int* source, const int* back, int inputs, int steps, int* head,
                          int* row, int* span) {
  for (int i = 0; i < inputs; ++i) {
    int later = -1; // the next input that reads the same array later, or as late
    for (int j = 0; j < inputs; ++j) {
      const bool before = back[j] < back[i] || (back[j] == back[i] && j < i);
      if (source[j] == source[i] && before && (later < 0 || back[j] >= back[later])) {
        later = j;
      }
    }
    head[i] = later >= 0 && back[i] - back[later] < steps ? later : i;
    span[i] = 0;
  }
  for (int i = 0; i < inputs; ++i) {
    int h = head[i];
    while (head[h] != h) {
      h = head[h];
    }
    head[i] = h;
    span[h] = back[i] - back[h] > span[h] ? back[i] - back[h] : span[h];
  }
  int rows = 0;
  for (int i = 0; i < inputs; ++i) {
    if (head[i] == i) {
      row[i] = rows + span[i];
      rows += steps + span[i];
    }
  }
  for (int i = 0; i < inputs; ++i) {
    row[i] = row[head[i]] - (back[i] - back[head[i]]);
  }
  return rows;
}

template <int inputs>
struct window_table {
  int head[inputs], row[inputs], span[inputs], rows;
};

/// What the inputs of a cell read, in order.
template <class... all>
struct reads {
  enum { any_earlier = ((all::back > 0) || ... || false) };
  static constexpr int source(int input) {
    const int sources[] = {all::source...};
    return sources[input];
  }
  static constexpr int back(int input) {
    const int backs[] = {all::back...};
    return backs[input];
  }

  template <int steps>
  struct windows {
    static constexpr window_table<sizeof...(all)> lay() {
      const int sources[] = {all::source...}, backs[] = {all::back...};
      window_table<sizeof...(all)> t{};
      t.rows = lay_windows(sources, backs, sizeof...(all), steps, t.head, t.row, t.span);
      return t;
    }
    static constexpr window_table<sizeof...(all)> table = lay();
    enum { rows = table.rows };
    static constexpr bool is_head(int input) { return table.head[input] == input; }
    static constexpr int row(int input) { return table.row[input]; }
    static constexpr int span(int input) { return table.span[input]; }
  };
};

/// Every input reads its own array at the step itself.
template <int inputs>
struct reads_now {
  enum { any_earlier = false };
  static constexpr int source(int input) { return input; }
  static constexpr int back(int) { return 0; }

  template <int steps>
  struct windows {
    enum { rows = inputs * steps };
    static constexpr bool is_head(int) { return true; }
    static constexpr int row(int input) { return input * steps; }
    static constexpr int span(int) { return 0; }
  };
};

namespace detail {
template <class>
struct nothing {
  using type = void;
};
} // namespace detail

/// Cell::reads, where it reads earlier inputs; then Cell::before(fill) gives what they are before
/// step 0.
template <class Cell, int inputs, class = void>
struct reads_of {
  using type = reads_now<inputs>;
};
template <class Cell, int inputs>
struct reads_of<Cell, inputs, typename detail::nothing<typename Cell::reads>::type> {
  using type = typename Cell::reads;
};

} // namespace rnn
