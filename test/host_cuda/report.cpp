// Error texts: who, where, and the stacks of the fibers.
#include "state.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <execinfo.h>
#include <link.h>
#include <map>
#include <unistd.h>
#include <utility>

namespace host_cuda::detail {

namespace {

// The program's own file and where it was loaded: addresses minus `base` are what its file says.
struct program {
  std::string path;
  std::uintptr_t base = 0;
};

program this_program() {
  program self;
  char path[4096];
  const auto length = readlink("/proc/self/exe", path, sizeof path);
  self.path.assign(path, length > 0 ? static_cast<std::size_t>(length) : 0);
  // The first object is the program.
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* base) {
        *static_cast<std::uintptr_t*>(base) = info->dlpi_addr;
        return 1;
      },
      &self.base);
  return self;
}

struct frame {
  std::string function, location;
};

// Everything that a command prints, a string a line.
std::vector<std::string> lines_of(const std::string& command) {
  std::vector<std::string> lines;
  if (FILE* pipe = popen(command.c_str(), "r")) {
    std::string line;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
      if (c == '\n') {
        lines.push_back(std::exchange(line, {}));
      } else {
        line += static_cast<char>(c);
      }
    }
    pclose(pipe);
  }
  return lines;
}

// What llvm-symbolizer says about return addresses, inlined functions first; kept, since it has to
// read all of the program's line tables.
const std::vector<frame>& symbolize(void* wanted, const std::vector<void*>& addresses) {
  static auto& known = *new std::map<void*, std::vector<frame>>;
  if (const auto found = known.find(wanted); found != known.end()) {
    return found->second;
  }
  const program self = this_program();
  std::string command = HOST_CUDA_SYMBOLIZER " --inlines --demangle --obj='" + self.path + "'";
  for (void* address : addresses) {
    // A return address is behind the call.
    const auto at = reinterpret_cast<std::uintptr_t>(address) - self.base - 1;
    command += format(" 0x%zx", static_cast<std::size_t>(at));
    known[address].clear();
  }
  // An address gives two lines a function, then an empty one.
  const std::vector<std::string> lines = lines_of(command + " 2>/dev/null");
  auto address = addresses.begin();
  for (std::size_t i = 0; i < lines.size() && address != addresses.end();) {
    if (lines[i].empty()) {
      ++address;
      ++i;
    } else if (i + 1 < lines.size()) {
      known[*address].push_back({lines[i], lines[i + 1]});
      i += 2;
    } else {
      break;
    }
  }
  return known[wanted];
}

// The library's own files, by the end of their folder's name: a build may have made paths relative.
bool is_ours(const frame& f) {
  return f.location.find("test/host_cuda/") != std::string::npos ||
         f.function.find("__sanitizer") != std::string::npos ||
         f.function.starts_with("host_cuda_") || f.function == "backtrace" || f.function == "??" ||
         f.function == "___interceptor_backtrace" || f.function == "__interceptor_backtrace";
}

// What stands between launch() and the kernel.
bool is_call_of_kernel(const frame& f) {
  return is_ours(f) || f.function.find("__invoke_impl") != std::string::npos;
}

// The kernel's frames, innermost first: between the library's own at either end.
std::string describe_frames(const thread& who) {
  std::vector<frame> shown;
  for (void* address : who.frames) {
    const std::vector<frame>& known = symbolize(address, who.frames);
    shown.insert(shown.end(), known.begin(), known.end());
  }
  const auto first = std::ranges::find_if_not(shown, is_ours);
  std::string text;
  for (auto each = first; each != shown.end() && !is_call_of_kernel(*each); ++each) {
    text += "    in " + each->function + " at " + each->location + "\n";
  }
  return text;
}

std::string name_thread(const launch_state& state, const thread& who) {
  return format("block (%u,%u,%u), thread (%u,%u,%u) [warp %d, lane %d]", state.block_index.x,
                state.block_index.y, state.block_index.z, who.index.x, who.index.y, who.index.z,
                who.warp, who.lane);
}

// "0-31, 40": linear indices.
std::string ranges(const std::vector<thread*>& threads) {
  std::string text;
  for (std::size_t i = 0; i < threads.size();) {
    std::size_t end = i;
    while (end + 1 < threads.size() && threads[end + 1]->linear == threads[end]->linear + 1) {
      ++end;
    }
    text += (i ? ", " : "") + std::to_string(threads[i]->linear);
    if (end > i) {
      text += "-" + std::to_string(threads[end]->linear);
    }
    i = end + 1;
  }
  return text;
}

std::string stand(const thread& who) {
  switch (who.state) {
  case thread_state::finished:
    return "returned from the kernel";
  case thread_state::ready:
    return "could go on";
  default:
    return "waiting at " + describe_call(who);
  }
}

// Threads that stand alike, a paragraph with the stack of their first.
std::string describe_block(launch_state& state) {
  std::vector<std::pair<std::string, std::vector<thread*>>> groups;
  for (thread* who : state.threads) {
    const std::string where = stand(*who);
    const auto same = std::ranges::find(groups, where, [](const auto& g) { return g.first; });
    auto& group = same == groups.end() ? groups.emplace_back(where, std::vector<thread*>()) : *same;
    group.second.push_back(who);
  }
  std::string text;
  for (const auto& [where, threads] : groups) {
    thread& first = *threads.front();
    text += format("  %zu thread%s (%s) %s\n", threads.size(), threads.size() == 1 ? "" : "s",
                   ranges(threads).c_str(), where.c_str());
    if (first.state == thread_state::waiting) {
      if (!first.gave_up) {
        resume_to_capture(state, first);
      }
      text += describe_frames(first);
    }
  }
  return text;
}

} // namespace

std::string format(const char* pattern, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

const char* name_of(operation kind) {
  static constexpr const char* names[] = {
      "__syncthreads()",     "__syncthreads_count()", "__syncthreads_and()", "__syncthreads_or()",
      "__syncwarp()",        "__shfl_sync()",         "__shfl_up_sync()",    "__shfl_down_sync()",
      "__shfl_xor_sync()",   "__ballot_sync()",       "__any_sync()",        "__all_sync()",
      "__match_any_sync()",  "__match_all_sync()",    "__reduce_add_sync()", "__reduce_min_sync()",
      "__reduce_max_sync()", "__reduce_min_sync()",   "__reduce_max_sync()", "__reduce_and_sync()",
      "__reduce_or_sync()",  "__reduce_xor_sync()"};
  return names[static_cast<std::size_t>(kind)];
}

std::size_t site_of(launch_state& state, operation kind, const place& where) {
  for (const known_site& known : state.known_sites) {
    if (known.line == where.line() && known.column == where.column() && known.kind == kind &&
        known.file == where.file_name()) {
      return known.index;
    }
  }
  auto& sites = state.report.call_sites;
  const std::string text = format("%s:%u:%u", where.file_name(), where.line(), where.column());
  const auto same = std::ranges::find_if(sites, [&](const call_site& each) {
    return each.place == text && each.operation == name_of(kind);
  });
  const auto index = static_cast<std::size_t>(same - sites.begin());
  if (same == sites.end()) {
    sites.push_back({name_of(kind), text, 0});
  }
  if (text == state.how.fault.removed) {
    state.removed_site = index;
  }
  state.known_sites.push_back({kind, where.file_name(), where.line(), where.column(), index});
  return index;
}

std::string describe_call(const thread& who) {
  std::string text = name_of(who.kind);
  if (who.kind > operation::barrier_or) {
    text += format(" with mask 0x%08x", who.mask);
  }
  return text + " at " + active->report.call_sites[who.site].place;
}

void capture_stack(thread& who) {
  who.frames.resize(64);
  const int depth = backtrace(who.frames.data(), static_cast<int>(who.frames.size()));
  who.frames.resize(static_cast<std::size_t>(depth));
}

std::string describe(launch_state& state, const failure& why) {
  const uint3 block = state.block_index;
  std::string text = why.about ? name_thread(state, *why.about)
                               : format("block (%u,%u,%u)", block.x, block.y, block.z);
  text += ": " + why.text + "\n";
  if (why.whole_block) {
    return text + describe_block(state);
  }
  if (why.about) {
    auto& about = const_cast<thread&>(*why.about);
    if (!about.gave_up) {
      resume_to_capture(state, about);
    }
    text += describe_frames(about);
  }
  for (thread* other : why.others) {
    resume_to_capture(state, *other);
    text += "  " + name_thread(state, *other) + "\n" + describe_frames(*other);
  }
  return text;
}

} // namespace host_cuda::detail
