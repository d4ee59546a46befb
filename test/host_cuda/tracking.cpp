// Registered buffers, the counted accesses to them, and asynchronous copies.
#include "tracking.hpp"

#include "host_cuda/atomics.hpp"
#include "host_cuda/memory.hpp"
#include "sanitizers.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

namespace host_cuda {

namespace detail {

namespace {

enum class use { load, store, atomic };

const char* verb(use how) {
  return how == use::load ? "a load" : how == use::store ? "a store" : "an atomic operation";
}

const unsigned char* begin_of(const tracked& t) {
  return static_cast<const unsigned char*>(t.memory.data);
}

bool holds(const tracked& t, const unsigned char* address, std::size_t bytes) {
  return address >= begin_of(t) && bytes <= t.memory.bytes &&
         static_cast<std::size_t>(address - begin_of(t)) <= t.memory.bytes - bytes;
}

// How an address that is in no buffer lies to the nearest one.
std::string locate(const launch_state& state, const unsigned char* address) {
  if (!address) {
    return "the null pointer";
  }
  if (is_shared(address)) {
    return "shared memory";
  }
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  std::string text = "no registered buffer";
  std::uintptr_t nearest = UINTPTR_MAX;
  for (const tracked& t : state.tracked_buffers) {
    const auto begin = reinterpret_cast<std::uintptr_t>(t.memory.data);
    const auto end = begin + t.memory.bytes;
    const char* name = t.memory.name.c_str();
    const std::uintptr_t distance = at < begin ? begin - at : at - begin;
    if (at < begin && distance < nearest) {
      nearest = distance;
      text = format("%zu bytes before the start of '%s'", static_cast<std::size_t>(distance), name);
    } else if (at >= begin && at < end) {
      return format("byte %zu of the %zu of '%s', across its end",
                    static_cast<std::size_t>(distance), t.memory.bytes, name);
    } else if (at >= end && at - end < nearest) {
      nearest = at - end;
      text = format("%zu bytes past the end of '%s', which has %zu",
                    static_cast<std::size_t>(at - end), name, t.memory.bytes);
    }
  }
  return text;
}

// The buffer that an access lies in; 0 where nothing is registered.
std::size_t find(launch_state& state, thread& who, const unsigned char* address, std::size_t bytes,
                 use how) {
  const auto& all = state.tracked_buffers;
  if (all.empty()) {
    if (is_poisoned(address, bytes)) {
      fail(who, format("%s of %zu bytes at %p, memory that AddressSanitizer knows as not to be "
                       "touched",
                       verb(how), bytes, static_cast<const void*>(address)));
    }
    return 0;
  }
  if (holds(all[state.last_buffer], address, bytes)) {
    return state.last_buffer;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (holds(all[i], address, bytes)) {
      return state.last_buffer = i;
    }
  }
  fail(who, format("%s of %zu bytes at %p: ", verb(how), bytes, static_cast<const void*>(address)) +
                locate(state, address));
}

void count(access_counts& counts, use how, std::size_t bytes) {
  switch (how) {
  case use::load:
    ++counts.loads;
    counts.load_bytes += bytes;
    break;
  case use::store:
    ++counts.stores;
    counts.store_bytes += bytes;
    break;
  case use::atomic:
    ++counts.atomics;
  }
}

void bump(std::vector<std::uint16_t>& counts, std::size_t first, std::size_t bytes) {
  for (std::size_t i = first; i < first + bytes; ++i) {
    counts[i] = static_cast<std::uint16_t>(counts[i] + (counts[i] != UINT16_MAX));
  }
}

void check_kind(thread& who, const tracked& t, const buffer_counts& counts, std::size_t offset,
                std::size_t bytes, use how) {
  const char* name = t.memory.name.c_str();
  if (how != use::load && t.memory.kind == access::input) {
    fail(who, format("%s of %zu bytes into the input '%s', at byte %zu", verb(how), bytes, name,
                     offset));
  }
  if (how == use::store || t.memory.kind != access::output) {
    return;
  }
  for (std::size_t i = offset; i < offset + bytes; ++i) {
    if (!counts.writes[i]) {
      fail(who, format("%s of byte %zu of the output '%s', which nobody has written yet", verb(how),
                       i, name));
    }
  }
}

void access_global(const char* function, const void* pointer, std::size_t bytes, use how) {
  thread& who = this_thread(function);
  const quiet scope;
  launch_state& state = *active;
  const auto* address = static_cast<const unsigned char*>(pointer);
  if (std::has_single_bit(bytes) && bytes <= 16 &&
      reinterpret_cast<std::uintptr_t>(pointer) % bytes) {
    fail(who,
         format("%s of %zu bytes at %p, which is not aligned to them", verb(how), bytes, pointer));
  }
  const std::size_t index = find(state, who, address, bytes, how);
  count(state.report.global, how, bytes);
  if (state.tracked_buffers.empty()) {
    return;
  }
  const tracked& t = state.tracked_buffers[index];
  buffer_counts& counts = state.report.buffers[index];
  const auto offset = static_cast<std::size_t>(address - begin_of(t));
  check_kind(who, t, counts, offset, bytes, how);
  count(counts, how, bytes);
  if (how != use::store) {
    bump(counts.reads, offset, bytes);
  }
  if (how != use::load) {
    bump(counts.writes, offset, bytes);
  }
}

// The buffer may be guarded.
__attribute__((no_sanitize("address"))) void copy_raw(unsigned char* to, const unsigned char* from,
                                                      std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    static_cast<volatile unsigned char*>(to)[i] = from[i];
  }
}

void arrive(const copy& c) {
  {
    const quiet scope;
    copy_raw(c.to, c.from, c.source_bytes);
    std::memset(c.to + c.source_bytes, 0, c.bytes - c.source_bytes);
  }
  saw_read(c.from, c.source_bytes);
  saw_write(c.to, c.bytes);
}

std::string check_overlap(const std::vector<tracked>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const buffer &a = all[j].memory, &b = all[i].memory;
      const auto *x = begin_of(all[j]), *y = begin_of(all[i]);
      if (a.bytes && b.bytes && x < y + b.bytes && y < x + a.bytes) {
        return "the buffers '" + a.name + "' and '" + b.name + "' overlap";
      }
    }
  }
  return {};
}

} // namespace

std::string track_buffers(launch_state& state) {
  for (const buffer& memory : state.how.buffers) {
    state.tracked_buffers.push_back({memory, {}});
  }
  if (std::string error = check_overlap(state.tracked_buffers); !error.empty()) {
    return error;
  }
  for (tracked& t : state.tracked_buffers) {
    buffer_counts& counts = state.report.buffers.emplace_back();
    counts.name = t.memory.name;
    counts.reads.resize(t.memory.bytes);
    counts.writes.resize(t.memory.bytes);
    if (t.memory.kind == access::input) {
      t.before.assign(begin_of(t), begin_of(t) + t.memory.bytes);
    } else if (t.memory.kind == access::output) {
      fill_nan(t.memory.data, t.memory.bytes);
    }
    if (state.how.guard) {
      poison(t.memory.data, t.memory.bytes);
    }
  }
  return {};
}

void untrack_buffers(launch_state& state) {
  for (tracked& t : state.tracked_buffers) {
    if (state.how.guard) {
      unpoison(t.memory.data, t.memory.bytes);
    }
    if (t.before.empty() || !std::memcmp(t.before.data(), t.memory.data, t.before.size())) {
      continue;
    }
    const auto* now = begin_of(t);
    const auto first = std::ranges::mismatch(t.before, std::span(now, t.before.size())).in1;
    if (state.report.ok()) {
      state.report.error =
          format("the kernel changed the input '%s', first at byte %zu, by a store that was not "
                 "counted",
                 t.memory.name.c_str(), static_cast<std::size_t>(first - t.before.begin()));
    }
    std::memcpy(t.memory.data, t.before.data(), t.before.size());
  }
}

void check_copies_awaited(thread& who) {
  std::size_t lost = who.open.size();
  for (const auto& group : who.groups) {
    lost += group.size();
  }
  who.open.clear();
  who.groups.clear();
  if (lost) {
    fail(who, format("returned with %zu asynchronous copies that it never waited for", lost));
  }
}

} // namespace detail

void count_load(const void* address, std::size_t bytes) {
  detail::access_global("a load", address, bytes, detail::use::load);
}

void count_store(void* address, std::size_t bytes) {
  detail::access_global("a store", address, bytes, detail::use::store);
}

void count_atomic(void* address, std::size_t bytes) {
  detail::access_global("an atomic operation", address, bytes, detail::use::atomic);
}

void copy_async(void* shared, const void* global, std::size_t bytes, std::size_t source_bytes) {
  detail::thread& who = detail::this_thread("copy_async()");
  {
    detail::quiet scope;
    if (bytes != 4 && bytes != 8 && bytes != 16) {
      detail::fail(who, detail::format(
                            "an asynchronous copy of %zu bytes: 4, 8 and 16 are possible", bytes));
    }
    if (source_bytes > bytes) {
      detail::fail(
          who, detail::format("an asynchronous copy of %zu bytes from %zu", bytes, source_bytes));
    }
    const auto to = reinterpret_cast<std::uintptr_t>(shared);
    if (to % bytes || reinterpret_cast<std::uintptr_t>(global) % bytes) {
      detail::fail(who, detail::format("an asynchronous copy of %zu bytes from %p to %p: both must "
                                       "be aligned to them",
                                       bytes, global, shared));
    }
    const auto* last = static_cast<const unsigned char*>(shared) + bytes - 1;
    if (!detail::is_shared(shared) || !detail::is_shared(last)) {
      detail::fail(who, detail::format("an asynchronous copy of %zu bytes to %p, which is not "
                                       "in shared memory",
                                       bytes, shared));
    }
  }
  if (source_bytes) {
    count_load(global, source_bytes);
  }
  {
    detail::quiet scope;
    detail::fill_nan(shared, bytes);
    who.open.push_back({static_cast<unsigned char*>(shared),
                        static_cast<const unsigned char*>(global), static_cast<unsigned>(bytes),
                        static_cast<unsigned>(source_bytes)});
  }
  detail::saw_write(shared, bytes);
}

void commit() {
  detail::thread& who = detail::this_thread("commit()");
  detail::quiet scope;
  who.groups.push_back(std::move(who.open));
  who.open.clear();
}

void wait(int pending) {
  detail::thread& who = detail::this_thread("wait()");
  pending += detail::active->how.fault.late_groups;
  if (static_cast<int>(who.groups.size()) <= pending) {
    return;
  }
  {
    // Others go on first: what they read of the destination is not there yet.
    detail::quiet scope;
    detail::make_ready(who);
    detail::sleep(who);
  }
  while (static_cast<int>(who.groups.size()) > pending) {
    for (const detail::copy& each : who.groups.front()) {
      detail::arrive(each);
    }
    detail::quiet scope;
    who.groups.pop_front();
  }
  // What is still under way may be there already: where it goes to what just arrived, neither is
  // sure to stay.
  detail::quiet scope;
  for (const auto& group : who.groups) {
    for (const detail::copy& each : group) {
      detail::fill_nan(each.to, each.bytes);
    }
  }
}

bool buffer_counts::each_read(unsigned times) const {
  return std::ranges::all_of(reads, [=](unsigned n) { return n == times; });
}

bool buffer_counts::each_written(unsigned times) const {
  return std::ranges::all_of(writes, [=](unsigned n) { return n == times; });
}

const buffer_counts& result::operator[](std::string_view name) const {
  const auto found = std::ranges::find(buffers, name, &buffer_counts::name);
  if (found == buffers.end()) {
    throw std::out_of_range("no buffer '" + std::string(name) + "' was registered");
  }
  return *found;
}

} // namespace host_cuda
