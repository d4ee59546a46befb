#include "files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

using namespace rnnc::tool;

static int cannot(const Console& console, const std::string& path) {
  return console.error(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
}

static bool writeAll(std::FILE* file, const std::string& text) {
  bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && written;
}

int rnnc::tool::writeText(const Console& console, const std::string& path,
                          const std::string& text) {
  struct stat status{};
  bool isSpecial = stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  std::string first = isSpecial ? path : fmt::format("{}.{}.tmp", path, getpid());
  std::FILE* file = std::fopen(first.c_str(), "wbe");
  if (!file)
    return cannot(console, path);
  if (!writeAll(file, text) || (!isSpecial && std::rename(first.c_str(), path.c_str()) != 0)) {
    int status = cannot(console, path);
    if (!isSpecial)
      std::remove(first.c_str());
    return status;
  }
  return kFine;
}
