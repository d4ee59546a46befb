// A text as a sequence of numbers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace text {

enum class Level { Byte, Word };

struct Tokens {
  std::vector<uint32_t> ids;
  uint32_t vocabulary = 0; ///< ids are below this
};

/// Bytes: the id is the byte. Words: runs of letters, digits and apostrophes, in lower case (bytes
/// above 127 count as letters, so that UTF-8 words stay whole), and every other character that is
/// no blank by itself; ids in the order of first appearance. Once `largestVocabulary` ids are used
/// up, new words share the last one.
Tokens tokenize(std::string_view text, Level level, uint32_t largestVocabulary = 65536);

} // namespace text
