// The text of runtime/device as the library carries it: what NVRTC is given as headers.
#pragma once

#include <cstddef>
#include <span>

namespace rnnc {

struct EmbeddedText {
  const char* name; ///< as an #include says it: "rnn/forward.cuh"
  const char* text; ///< ends with a zero
  size_t size;      ///< without it
};

/// All of runtime/device, by name. Lives as long as the program.
std::span<const EmbeddedText> deviceText();

} // namespace rnnc
