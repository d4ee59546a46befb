#include "data/SafetensorsHeader.h"

#include "data/ByteSource.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <unordered_set>

namespace rnnc::data {

namespace {

constexpr size_t maxNameBytes = 1024;

struct TypeName {
  std::string_view name;
  FileType type;
};
constexpr std::array<TypeName, 14> types = {{{"BOOL", FileType::Bool},
                                             {"I8", FileType::I8},
                                             {"I16", FileType::I16},
                                             {"I32", FileType::I32},
                                             {"I64", FileType::I64},
                                             {"U8", FileType::U8},
                                             {"U16", FileType::U16},
                                             {"U32", FileType::U32},
                                             {"U64", FileType::U64},
                                             {"F16", FileType::F16},
                                             {"BF16", FileType::BF16},
                                             {"F32", FileType::F32},
                                             {"F64", FileType::F64},
                                             {"C64", FileType::C64}}};

std::string problemOfName(std::string_view name) {
  if (name.empty())
    return "holds an array without a name";
  if (name.size() > maxNameBytes)
    return fmt::format("holds an array with a name of {} bytes; at most {} are supported",
                       name.size(), maxNameBytes);
  for (unsigned char c : name)
    if (c < 0x20 || c == 0x7f)
      return fmt::format("holds an array with a control character in its name, '{}'",
                         printable(name));
  return {};
}

/// Takes the JSON as it is read, without a tree: an object of objects, and nothing deeper than a
/// list of numbers in one of those. Every method returns false after it has set `problem`.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
public:
  std::vector<SafetensorsEntry> entries;
  std::string problem;

  bool start_object(std::size_t) override {
    if (level == Level::Before)
      return go(Level::Top);
    if (level == Level::Top && isMetadata)
      return go(Level::Metadata);
    if (level == Level::Top) {
      entry = {};
      entry.name = name;
      type.reset();
      seen.clear();
      return go(Level::Entry);
    }
    return unexpected("an object");
  }

  bool end_object() override {
    if (level == Level::Entry) {
      if (seen.size() != 3)
        return fail(fmt::format("{} lacks one of dtype, shape and data_offsets", array()));
      entry.type = *type;
      entry.begin = offsets[0];
      entry.end = offsets[1];
      entries.push_back(std::move(entry));
    }
    return go(level == Level::Top ? Level::After : Level::Top);
  }

  bool key(std::string& text) override {
    if (level == Level::Metadata)
      return true;
    if (level == Level::Entry) {
      if (text != "dtype" && text != "shape" && text != "data_offsets")
        return fail(fmt::format("{} has a member '{}', which no array has", array(), shown(text)));
      if (!seen.insert(text).second)
        return fail(fmt::format("{} has two members {}", array(), text));
      member = text;
      return true;
    }
    if (!names.insert(text).second)
      return fail(fmt::format("holds two arrays with the name '{}'", shown(text)));
    name = text;
    isMetadata = text == "__metadata__";
    problem = isMetadata ? "" : problemOfName(text);
    return problem.empty();
  }

  bool string(std::string& text) override {
    if (level == Level::Metadata)
      return true;
    if (level != Level::Entry || member != "dtype")
      return unexpected("a text");
    auto found = std::ranges::find(types, std::string_view(text), &TypeName::name);
    if (found == types.end())
      return fail(fmt::format("{} has elements of type '{}', which is not supported", array(),
                              shown(text)));
    type = found->type;
    return true;
  }

  bool start_array(std::size_t) override {
    if (level != Level::Entry || member == "dtype")
      return unexpected("a list");
    count = 0;
    return go(Level::List);
  }

  bool end_array() override {
    if (member == "data_offsets" && count != 2)
      return fail(fmt::format("{} has {} data_offsets, not two", array(), count));
    return go(Level::Entry);
  }

  bool number_unsigned(uint64_t value) override {
    if (level != Level::List)
      return unexpected("a number");
    if (value > INT64_MAX)
      return fail(fmt::format("{} has a {} that does not fit into 63 bits", array(), member));
    ++count;
    if (member == "shape") {
      if (count > maxRank)
        return fail(fmt::format("{} has more than {} dimensions", array(), maxRank));
      entry.shape.push_back(static_cast<int64_t>(value));
    } else if (count <= 2) {
      offsets[count - 1] = static_cast<int64_t>(value);
    }
    return true;
  }

  bool number_integer(int64_t value) override {
    return level == Level::List ? fail(fmt::format("{} has a negative number, {}, in its {}",
                                                   array(), value, member))
                                : unexpected("a number");
  }
  bool number_float(double, const std::string&) override { return unexpected("a broken number"); }
  bool boolean(bool) override { return unexpected("true or false"); }
  bool null() override { return unexpected("null"); }
  bool binary(nlohmann::json::binary_t&) override { return unexpected("binary"); }
  bool parse_error(std::size_t at, const std::string&,
                   const nlohmann::detail::exception&) override {
    return fail(fmt::format("its header is no JSON: byte {} is wrong", at));
  }

private:
  enum class Level { Before, Top, Metadata, Entry, List, After };

  bool go(Level to) {
    level = to;
    return true;
  }
  bool fail(std::string text) {
    problem = std::move(text);
    return false;
  }
  static std::string shown(std::string_view text) { return printable(text.substr(0, 64)); }
  std::string array() const { return fmt::format("array '{}'", shown(name)); }
  bool unexpected(const char* what) {
    switch (level) {
    case Level::Before:
    case Level::After:
      return fail(fmt::format("its header is {}, not an object", what));
    case Level::Top:
      return fail(fmt::format("array '{}' is {}, not an object", shown(name), what));
    case Level::Metadata:
      return fail(fmt::format("its __metadata__ holds {}; only texts are allowed", what));
    case Level::Entry:
    case Level::List:
      return fail(fmt::format("{} has {} as its {}", array(), what, member));
    }
    return false;
  }

  Level level = Level::Before;
  std::unordered_set<std::string> names, seen;
  std::string name, member;
  bool isMetadata = false;
  std::optional<FileType> type;
  SafetensorsEntry entry;
  std::array<int64_t, 2> offsets{};
  size_t count = 0;
};

/// Whether an entry's bytes are those of its shape, and begin where the ones before end.
std::string problemOfBytes(const SafetensorsEntry& entry, int64_t before, int64_t payload) {
  std::string array = fmt::format("array '{}'", printable(entry.name.substr(0, 64)));
  Result<int64_t> needed = byteCount(itemSize(entry.type), entry.shape);
  if (!needed)
    return fmt::format("{}: {}", array, needed.error().text);
  if (entry.begin > entry.end || entry.end > payload)
    return fmt::format("{} has the bytes {} to {} of {}", array, entry.begin, entry.end, payload);
  if (entry.end - entry.begin != *needed)
    return fmt::format("{} has {} bytes, and its shape {} needs {}", array, entry.end - entry.begin,
                       shapeText(entry.shape), *needed);
  if (entry.begin < before)
    return fmt::format("{} overlaps another array: it begins at byte {}, and byte {} is taken",
                       array, entry.begin, before - 1);
  if (entry.begin > before)
    return fmt::format("{} bytes in front of {} belong to no array", entry.begin - before, array);
  return {};
}

} // namespace

Result<std::vector<SafetensorsEntry>> parseSafetensorsHeader(std::string_view text,
                                                             int64_t payload) {
  if (text.empty() || text.front() != '{')
    return Error{"its header does not begin with '{'"};
  HeaderReader reader;
  if (!nlohmann::json::sax_parse(text, &reader))
    return Error{std::move(reader.problem)};
  std::vector<SafetensorsEntry> entries = std::move(reader.entries);
  // Of arrays without elements several may begin at one place.
  std::ranges::sort(entries, {}, [](const SafetensorsEntry& entry) {
    return std::tuple<int64_t, int64_t, std::string_view>(entry.begin, entry.end, entry.name);
  });
  int64_t at = 0;
  for (const SafetensorsEntry& entry : entries) {
    if (std::string problem = problemOfBytes(entry, at, payload); !problem.empty())
      return Error{std::move(problem)};
    at = entry.end;
  }
  if (at != payload)
    return Error{fmt::format("{} bytes at its end belong to no array", payload - at)};
  return entries;
}

Result<std::string> safetensorsHeader(std::span<const NamedArray> arrays) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  int64_t at = 0;
  for (const auto& [name, array] : arrays) {
    if (std::string problem = problemOfName(name); !problem.empty())
      return Error{std::move(problem)};
    if (name == "__metadata__" || header.contains(name))
      return Error{fmt::format("cannot hold {} '{}'",
                               name == "__metadata__" ? "an array called" : "two arrays called",
                               printable(name))};
    if (array.complex && array.dtype != DType::F32)
      return Error{fmt::format("array '{}': the format has no complex numbers of two {}; write "
                               "f32{}",
                               printable(name), dtypeName(array.dtype),
                               isHalf(array.dtype) ? "" : ", or a .npz file")};
    std::vector<int64_t> shape = array.shape;
    if (array.complex)
      shape.pop_back();
    auto size = static_cast<int64_t>(array.bytes.size());
    constexpr const char* types[] = {"F32", "F64", "BF16", "F16"};
    header[name] = {{"dtype", array.complex ? "C64" : types[static_cast<int>(array.dtype)]},
                    {"shape", std::move(shape)},
                    {"data_offsets", {at, at + size}}};
    at += size;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::exception&) {
    return Error{"the name of an array is no UTF-8"};
  }
  constexpr size_t alignment = 8;
  text.resize((text.size() + alignment - 1) / alignment * alignment, ' ');
  std::string length;
  for (int byte = 0; byte < 8; ++byte)
    length += static_cast<char>(text.size() >> (8 * byte));
  return length + text;
}

} // namespace rnnc::data
