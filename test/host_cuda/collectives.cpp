// Meetings of threads: the block's barrier, and the warp's shuffles, votes and reductions.
#include "sanitizers.hpp"
#include "state.hpp"

#include <algorithm>
#include <bit>

namespace host_cuda::detail {

namespace {

int block_answer(operation kind, const std::vector<thread*>& threads) {
  const auto holds = [](const thread* who) { return who->value != 0; };
  switch (kind) {
  case operation::barrier_count:
    return static_cast<int>(std::ranges::count_if(threads, holds));
  case operation::barrier_and:
    return std::ranges::all_of(threads, holds);
  case operation::barrier_or:
    return std::ranges::any_of(threads, holds);
  default:
    return 0;
  }
}

void count_meeting(launch_state& state, std::uint64_t& kind, std::size_t site) {
  ++kind;
  ++state.report.call_sites[site].times;
  if (++state.meetings > state.how.meeting_limit) {
    fail({.text = format("the block has met %llu times and goes on: an endless loop?",
                         static_cast<unsigned long long>(state.meetings)),
          .whole_block = true});
  }
}

// What a removed barrier gave where it was not removed.
int answer_of_right_run(const launch_state& state, thread& who) {
  const auto& blocks = state.how.fault.answers;
  const std::size_t visit = who.removed_visits++;
  if (state.report.blocks >= blocks.size() || visit >= blocks[state.report.blocks].size()) {
    fail(who, "came to the barrier at " + state.how.fault.removed +
                  ", which is removed, more often than in the right run");
  }
  return blocks[state.report.blocks][visit];
}

void open_barrier(launch_state& state, thread& last) {
  static char barrier; // where the block's threads meet
  for (const thread* who : state.threads) {
    if (who->site != last.site) {
      fail({.text = "divergent barrier: the threads of the block are at different ones",
            .whole_block = true});
    }
  }
  count_meeting(state, state.report.barriers, last.site);
  state.at_barrier = 0;
  const int answer = block_answer(last.kind, state.threads);
  if (last.kind != operation::barrier) {
    auto& answers = state.report.call_sites[last.site].answers;
    answers.resize(state.report.blocks + 1);
    answers.back().push_back(answer);
  }
  if (last.site != state.removed_site) {
    order(state.threads, false, &barrier);
  }
  for (thread* who : state.threads) {
    who->answer = static_cast<std::uint64_t>(answer);
    make_ready(*who);
  }
}

// The lane that a shuffle reads, in the warp; its own where the segment ends.
int source_of(const thread& who) {
  const int first = who.lane & ~(who.width - 1);
  switch (who.kind) {
  case operation::shuffle:
    return first | (who.source_lane & (who.width - 1));
  case operation::shuffle_up:
    return who.source_lane > who.lane - first ? who.lane : who.lane - who.source_lane;
  case operation::shuffle_down:
    return who.source_lane >= first + who.width - who.lane ? who.lane : who.lane + who.source_lane;
  default: {
    // xor may read segments before its own, not those after it.
    const int source = who.lane ^ who.source_lane;
    return source < 0 || source >= first + who.width ? who.lane : source;
  }
  }
}

bool is_shuffle(operation kind) {
  return kind >= operation::shuffle && kind <= operation::shuffle_xor;
}

std::uint64_t vote(const thread& who, const std::vector<thread*>& lanes) {
  unsigned set = 0, equal = 0;
  for (const thread* other : lanes) {
    set |= (other->value ? 1u : 0u) << other->lane;
    equal |= (other->value == who.value ? 1u : 0u) << other->lane;
  }
  switch (who.kind) {
  case operation::ballot:
    return set;
  case operation::any:
    return set != 0;
  case operation::all:
    return set == who.mask;
  case operation::match_any:
    return equal;
  default:
    return equal == who.mask ? who.mask : 0;
  }
}

std::uint64_t reduce(operation kind, const std::vector<thread*>& lanes) {
  auto total = static_cast<std::uint32_t>(lanes[0]->value);
  for (std::size_t i = 1; i < lanes.size(); ++i) {
    const auto x = static_cast<std::uint32_t>(lanes[i]->value);
    const auto a = static_cast<std::int32_t>(total), b = static_cast<std::int32_t>(x);
    switch (kind) {
    case operation::reduce_add:
      total += x;
      break;
    case operation::reduce_min:
      total = static_cast<std::uint32_t>(std::min(a, b));
      break;
    case operation::reduce_max:
      total = static_cast<std::uint32_t>(std::max(a, b));
      break;
    case operation::reduce_min_unsigned:
      total = std::min(total, x);
      break;
    case operation::reduce_max_unsigned:
      total = std::max(total, x);
      break;
    case operation::reduce_and:
      total &= x;
      break;
    case operation::reduce_or:
      total |= x;
      break;
    default:
      total ^= x;
    }
  }
  return total;
}

thread& lane_of(const launch_state& state, const thread& who, int lane) {
  return *state.threads[static_cast<std::size_t>(who.warp * warp_size + lane)];
}

void answer(launch_state& state, thread& who, const std::vector<thread*>& lanes) {
  if (is_shuffle(who.kind)) {
    const int source = source_of(who);
    if (!(who.mask >> source & 1)) {
      fail(who,
           describe_call(who) + format(": reads lane %d, which the mask does not name", source));
    }
    who.answer = lane_of(state, who, source).value;
  } else if (who.kind >= operation::reduce_add) {
    who.answer = reduce(who.kind, lanes);
  } else if (who.kind != operation::syncwarp) {
    who.answer = vote(who, lanes);
    who.all = who.answer != 0;
  }
}

// The first lane of a group comes: fails where the mask names a lane that can never come.
void check_mask(launch_state& state, thread& who) {
  for (unsigned left = who.mask; left; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (static_cast<std::size_t>(who.warp * warp_size + lane) >= state.threads.size()) {
      fail(who, describe_call(who) + format(": the mask names lane %d, but the block's last warp "
                                            "has %zu lanes",
                                            lane, state.threads.size() % warp_size));
    }
    thread& other = lane_of(state, who, lane);
    if (other.state == thread_state::finished) {
      fail(who, describe_call(who) + format(": the mask names lane %d, which has returned", lane));
    }
    // Each waits for the other, and not at the same operation.
    if (other.state == thread_state::waiting && other.kind > operation::barrier_or &&
        (other.mask >> who.lane & 1)) {
      fail({.text = describe_call(who) + format(": lane %d of the mask is at ", lane) +
                    describe_call(other),
            .about = &who,
            .others = {&other}});
    }
  }
}

// Enters the caller; true where it is the last of its mask.
bool join_group(launch_state& state, thread& who) {
  if (!(who.mask >> who.lane & 1)) {
    fail(who,
         describe_call(who) + format(": the mask does not name the calling lane %d", who.lane));
  }
  auto& groups = state.warp_groups[static_cast<std::size_t>(who.warp)];
  auto group = std::ranges::find_if(
      groups, [&](const warp_group& g) { return g.site == who.site && g.mask == who.mask; });
  if (group == groups.end()) {
    check_mask(state, who);
    group = groups.insert(group, {who.site, who.mask, 0});
  }
  who.state = thread_state::waiting;
  group->arrived |= 1u << who.lane;
  if (group->arrived != group->mask) {
    return false;
  }
  groups.erase(group);
  return true;
}

// A sync address for each warp and each lowest lane of a mask: whoever meets there twice has that
// lane in common with all who met there before.
void* sync_of(const thread& who) {
  static char places[32][warp_size];
  return &places[who.warp][std::countr_zero(who.mask)];
}

// Everybody has come: the results, and all go on.
void complete_group(launch_state& state, const thread& last) {
  std::vector<thread*>& lanes = state.lanes;
  lanes.clear();
  for (unsigned left = last.mask; left; left &= left - 1) {
    lanes.push_back(&lane_of(state, last, std::countr_zero(left)));
  }
  for (thread* who : lanes) {
    answer(state, *who, lanes);
  }
  count_meeting(state, state.report.warp_operations, last.site);
  if (last.site != state.removed_site) {
    order(lanes, false, sync_of(last));
  }
  for (thread* who : lanes) {
    make_ready(*who);
  }
}

} // namespace

int meet_block(operation kind, int predicate, place where) {
  thread& who = this_thread(name_of(kind));
  const quiet scope;
  launch_state& state = *active;
  who.site = site_of(state, kind, where);
  const bool removed = who.site == state.removed_site;
  if (removed && (kind == operation::barrier || !state.how.fault.answers.empty())) {
    return kind == operation::barrier ? 0 : answer_of_right_run(state, who);
  }
  who.kind = kind;
  who.value = predicate != 0;
  who.state = thread_state::waiting;
  if (++state.at_barrier == static_cast<int>(state.threads.size())) {
    open_barrier(state, who);
  }
  sleep(who);
  return static_cast<int>(who.answer);
}

std::uint64_t meet_warp(operation kind, unsigned mask, std::uint64_t value, int lane, int width,
                        place where, int* all) {
  thread& who = this_thread(name_of(kind));
  const quiet scope;
  launch_state& state = *active;
  who.site = site_of(state, kind, where);
  if (who.site == state.removed_site && kind == operation::syncwarp) {
    return 0;
  }
  who.kind = kind;
  who.mask = mask ^ state.how.fault.flipped_lanes;
  who.value = value;
  who.source_lane = lane;
  who.width = width;
  if (is_shuffle(kind) && (width <= 0 || width > warp_size || (width & (width - 1)))) {
    fail(who, describe_call(who) + format(": width %d is none of 1, 2, 4, 8, 16, 32", width));
  }
  if (join_group(state, who)) {
    complete_group(state, who);
  }
  sleep(who);
  if (all) {
    *all = who.all;
  }
  return who.answer;
}

unsigned live_lanes() {
  const thread& who = this_thread("__activemask()");
  const quiet scope;
  unsigned live = 0;
  for (const thread* other : active->threads) {
    if (other->warp == who.warp && other->state != thread_state::finished) {
      live |= 1u << other->lane;
    }
  }
  return live;
}

} // namespace host_cuda::detail
