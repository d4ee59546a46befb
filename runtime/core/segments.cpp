#include "core/segments.hpp"

#include "core/status.hpp"

#include <algorithm>
#include <tuple>

namespace rnnc::runtime {
namespace {

int64_t offsetAt(const rnn_plan_options& options, int64_t i) {
  return options.offset_bits == 32 ? static_cast<const int32_t*>(options.segment_offsets)[i]
                                   : static_cast<const int64_t*>(options.segment_offsets)[i];
}

void check(const rnn_plan_options& options) {
  if (options.segments < 0) {
    invalid("segments is {}; it cannot be negative", options.segments);
  }
  if (options.batch != 1) {
    invalid("batch is {}, but a packed batch, one with `segment_offsets`, is 1: its segments are "
            "its sequences",
            options.batch);
  }
  if (options.offset_bits != 32 && options.offset_bits != 64) {
    invalid("offset_bits is {}; it must be 32 or 64, as the type of `segment_offsets` says",
            options.offset_bits);
  }
  if (options.streaming) {
    fail(RNN_UNSUPPORTED, "streaming: a packed batch cannot be streamed; give its sequences as a "
                          "batch, or each a state of its own");
  }
  const uintptr_t bytes = options.offset_bits / 8;
  if (reinterpret_cast<uintptr_t>(options.segment_offsets) % bytes != 0) {
    invalid("segment_offsets: not aligned to the {} bytes of an offset", bytes);
  }
  for (int64_t i = 0; i <= options.segments; ++i) {
    const int64_t before = i == 0 ? 0 : offsetAt(options, i - 1), here = offsetAt(options, i);
    if (i == 0 && here != 0) {
      invalid("segment_offsets: the first one is {}; it must be 0", here);
    }
    if (here < before) {
      invalid("segment_offsets: offset {} is {}, less than the one before, {}", i, here, before);
    }
  }
  if (const int64_t last = offsetAt(options, options.segments); last != options.time) {
    invalid("segment_offsets: the last one is {}, but time is {}", last, options.time);
  }
}

} // namespace

int64_t Segments::filled() const {
  return std::ranges::count_if(longestFirst, [](const Segment& s) { return s.steps > 0; });
}

bool Segments::beginsWithin(int64_t time, int64_t back) const {
  const auto behind = std::ranges::upper_bound(begins, time);
  return behind != begins.begin() && *(behind - 1) > time - back;
}

const Segment& Segments::at(int64_t time) const {
  return *(std::ranges::upper_bound(byBegin, time, {}, &Segment::begin) - 1);
}

Segments readSegments(const rnn_plan_options& options) {
  Segments segments;
  if (!options.segment_offsets) {
    if (options.segments != 0) {
      invalid("segment_offsets is null, but segments is {}", options.segments);
    }
    return segments;
  }
  check(options);
  segments.packed = true;
  for (int64_t i = 0; i < options.segments; ++i) {
    const int64_t first = offsetAt(options, i), end = offsetAt(options, i + 1);
    const int64_t begin = options.reversed ? options.time - end : first;
    segments.longestFirst.push_back({i, begin, end - first});
    segments.begins.push_back(begin);
    if (end > first) {
      segments.byBegin.push_back(segments.longestFirst.back());
    }
  }
  std::ranges::sort(segments.byBegin, {}, &Segment::begin);
  std::ranges::sort(segments.begins);
  std::ranges::sort(segments.longestFirst, [](const Segment& a, const Segment& b) {
    return std::tie(b.steps, a.number) < std::tie(a.steps, b.number);
  });
  return segments;
}

} // namespace rnnc::runtime
