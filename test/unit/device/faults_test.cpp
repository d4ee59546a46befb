// The solve with one thing broken: a barrier gone, copies that come late, a wrong mask. Each is
// noticed.
#include "suite.hpp"

#include <set>

using namespace device_test;
using rnn::staging;

namespace {

#if __has_feature(thread_sanitizer)
constexpr bool sees_races = true;
#else
constexpr bool sees_races = false;
#endif

using math = rnn::polynomial<float>;
// ThreadSanitizer tells 255 fibers apart.
using six = policy<32, 6, 4, staging::shared>;

/// Tiles that sweep, and tiles that walk.
setting settled() {
  setting s;
  s.batch = 1;
  s.time = 100;
  s.lanes = {32};
  return s;
}

// A barrier that counts still counts without its order, which only ThreadSanitizer sees.
template <class Cell>
void lose_barriers(std::set<std::string>& places) {
  problem<Cell, 1> p(settled());
  const host_cuda::result right = p.template check<six>().run;
  for (const host_cuda::call_site& site : right.call_sites) {
    if (site.operation.find("__syncthreads") != 0) {
      continue;
    }
    places.insert(site.place);
    if (sees_races) {
      EXPECT_DEATH(p.template is_right<six>({.removed = site.place}),
                   "ThreadSanitizer: data race")
          << site.place;
    } else if (site.operation == "__syncthreads()") {
      bool always_right = true;
      for (unsigned order = 0; order < 8; ++order) {
        always_right = always_right && p.template is_right<six>({.removed = site.place}, order);
      }
      EXPECT_FALSE(always_right) << site.place;
    }
  }
}

TEST(Faults, EveryBarrier) {
  std::set<std::string> places;
  lose_barriers<cells::gru<float, math>>(places);
  lose_barriers<cells::logistic<float, math>>(places);
  EXPECT_EQ(places.size(), 3u); // after shooting, after comparing, after a walk
}

TEST(Faults, LateCopies) {
  using gru = cells::gru<float, math>;
  problem<gru, 1> p(settled());
  EXPECT_TRUE(p.is_right<six>({}));
  EXPECT_FALSE(p.is_right<six>({.late_groups = 1}));
  EXPECT_FALSE((p.is_right<policy<32, 2, 9, staging::shared_single>>({.late_groups = 1})));
}

TEST(Faults, EveryLaneOfAMask) {
  problem<cells::gru<float, math>, 1> p(settled());
  for (int lane = 0; lane < 32; ++lane) {
    EXPECT_FALSE(p.is_right<six>({.flipped_lanes = 1u << lane})) << lane;
  }
}

} // namespace
