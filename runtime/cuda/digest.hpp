// SHA-256 (FIPS 180-4): the name of a compiled program, and whether a stored one is whole.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rnnc::runtime::cuda {

using Digest = std::array<unsigned char, 32>;

class Sha256 {
public:
  void add(std::string_view bytes);
  /// A text and its length, so that no two lists of texts run into the same bytes.
  void addText(std::string_view text);
  /// Ends it.
  Digest finish();

private:
  void block(const unsigned char* bytes);

  std::array<uint32_t, 8> state_{0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
                                 0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};
  std::array<unsigned char, 64> pending_{};
  size_t filled_ = 0;
  uint64_t total_ = 0;
};

Digest digestOf(std::string_view bytes);

/// 64 characters.
std::string hexOf(const Digest& digest);

} // namespace rnnc::runtime::cuda
