#include "files.h"

#include "data/ByteSource.h"

using namespace rnnc;
using namespace rnnc::tool;

int rnnc::tool::writeText(const Console& console, const std::string& path,
                          const std::string& text) {
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(text))};
  data::Status status = data::writeFile(path, parts);
  return status ? kFine : console.error(status.error().text);
}
