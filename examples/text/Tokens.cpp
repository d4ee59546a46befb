#include "Tokens.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace text {

namespace {

bool isWordPart(unsigned char c) {
  return c >= 128 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         c == '\'';
}

bool isBlank(unsigned char c) { return c <= ' '; }

std::string lowerCase(std::string_view word) {
  std::string lower(word);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return lower;
}

Tokens bytes(std::string_view text) {
  Tokens tokens;
  tokens.ids.assign(reinterpret_cast<const unsigned char*>(text.data()),
                    reinterpret_cast<const unsigned char*>(text.data() + text.size()));
  tokens.vocabulary = 256;
  return tokens;
}

Tokens words(std::string_view text, uint32_t largestVocabulary) {
  Tokens tokens;
  std::unordered_map<std::string, uint32_t> idOf;
  size_t at = 0;
  while (at < text.size()) {
    size_t begin = at++;
    if (isBlank(text[begin]))
      continue;
    if (isWordPart(text[begin]))
      while (at < text.size() && isWordPart(text[at]))
        ++at;
    uint32_t next = std::min(static_cast<uint32_t>(idOf.size()), largestVocabulary - 1);
    auto [entry, isNew] = idOf.try_emplace(lowerCase(text.substr(begin, at - begin)), next);
    tokens.ids.push_back(entry->second);
    tokens.vocabulary = std::max(tokens.vocabulary, entry->second + 1);
  }
  return tokens;
}

} // namespace

Tokens tokenize(std::string_view text, Level level, uint32_t largestVocabulary) {
  return level == Level::Byte ? bytes(text) : words(text, largestVocabulary);
}

} // namespace text
