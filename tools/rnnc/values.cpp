#include "values.h"

#include <charconv>
#include <cmath>

using namespace rnnc::tool;

template <typename T>
static std::optional<T> parseAll(std::string_view text) {
  T value{};
  if (text.starts_with('+'))
    text.remove_prefix(1);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::optional<int64_t> rnnc::tool::parseInteger(std::string_view text) {
  return parseAll<int64_t>(text);
}

std::optional<uint64_t> rnnc::tool::parseUnsigned(std::string_view text) {
  return parseAll<uint64_t>(text);
}

std::optional<double> rnnc::tool::parseNumber(std::string_view text) {
  std::optional<double> value = parseAll<double>(text);
  return value && std::isnan(*value) ? std::nullopt : value;
}

std::optional<int64_t> rnnc::tool::parseSize(std::string_view text) {
  int shift = text.ends_with("KiB")   ? 10
              : text.ends_with("MiB") ? 20
              : text.ends_with("GiB") ? 30
                                      : 0;
  std::optional<int64_t> value = parseInteger(text.substr(0, text.size() - (shift ? 3 : 0)));
  if (!value || *value < 0 || *value > (INT64_MAX >> shift))
    return std::nullopt;
  return *value << shift;
}

/// NAME=VALUE, the value by `parse`, into a map where the name is new.
template <typename T, typename Parse>
static std::string add(std::string_view text, std::map<std::string, T>& to, Parse parse,
                       const char* what) {
  size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos)
    return "'" + std::string(text) + "' is not NAME=VALUE";
  std::string name(text.substr(0, equals)), value(text.substr(equals + 1));
  auto parsed = parse(value);
  if (!parsed)
    return "'" + value + "' is not " + what;
  if (!to.emplace(name, *parsed).second)
    return "'" + name + "' is given twice";
  return "";
}

std::string rnnc::tool::addSize(std::string_view text, Sizes& to) {
  return add(text, to, parseSize, "a size");
}

std::string rnnc::tool::addNumber(std::string_view text, Numbers& to) {
  return add(text, to, parseNumber, "a number");
}
