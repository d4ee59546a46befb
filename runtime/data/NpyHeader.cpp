#include "data/NpyHeader.h"

#include "data/ByteSource.h"

#include <array>
#include <charconv>
#include <fmt/format.h>
#include <optional>

namespace rnnc::data {

namespace {

struct TypeEntry {
  std::string_view name; // without the byte order
  FileType type;
};

constexpr std::array<TypeEntry, 14> types = {{{"b1", FileType::Bool},
                                              {"i1", FileType::I8},
                                              {"i2", FileType::I16},
                                              {"i4", FileType::I32},
                                              {"i8", FileType::I64},
                                              {"u1", FileType::U8},
                                              {"u2", FileType::U16},
                                              {"u4", FileType::U32},
                                              {"u8", FileType::U64},
                                              {"f2", FileType::F16},
                                              {"f4", FileType::F32},
                                              {"f8", FileType::F64},
                                              {"c8", FileType::C64},
                                              {"c16", FileType::C128}}};

/// A parser of the one literal that NumPy writes: {'descr': '<f4', 'fortran_order': False,
/// 'shape': (3, 4), }. Every method that can fail sets `problem` and returns false.
class Parser {
public:
  explicit Parser(std::string_view text) : text(text) {}

  std::string problem;

  bool dictionary(NpyHeader& header) {
    if (!expect('{'))
      return false;
    while (!accept('}')) {
      std::string_view key;
      if (!quoted(key) || !expect(':') || !value(key, header))
        return false;
      if (!accept(',') && peek() != '}')
        return fail("a comma or '}' is missing in its header");
    }
    if (!seenType || !seenOrder || !seenShape)
      return fail("its header lacks one of 'descr', 'fortran_order' and 'shape'");
    skipSpace();
    return at == text.size() || fail("its header goes on after the dictionary");
  }

private:
  bool fail(std::string message) {
    problem = std::move(message);
    return false;
  }

  void skipSpace() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t'))
      ++at;
  }

  /// The next character that is no space; NUL at the end.
  char peek() {
    skipSpace();
    return at < text.size() ? text[at] : '\0';
  }

  bool accept(char c) {
    if (peek() != c)
      return false;
    ++at;
    return true;
  }

  bool expect(char c) {
    return accept(c) || fail(fmt::format("its header is damaged: '{}' is missing", c));
  }

  bool acceptWord(std::string_view word) {
    skipSpace();
    if (!text.substr(at).starts_with(word))
      return false;
    at += word.size();
    return true;
  }

  bool quoted(std::string_view& out) {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      return fail("its header is damaged: a quoted word is missing");
    size_t begin = ++at;
    size_t end = text.find(quote, begin);
    if (end == std::string_view::npos)
      return fail("its header is damaged: a quote is not closed");
    out = text.substr(begin, end - begin);
    at = end + 1;
    return true;
  }

  bool value(std::string_view key, NpyHeader& header) {
    if (key == "descr")
      return once(seenType, key) && elementType(header);
    if (key == "fortran_order")
      return once(seenOrder, key) && boolean(header.fortranOrder);
    if (key == "shape")
      return once(seenShape, key) && tuple(header.shape);
    return fail(fmt::format("its header has an unknown key '{}'", printable(key.substr(0, 40))));
  }

  bool once(bool& seen, std::string_view key) {
    if (seen)
      return fail(fmt::format("its header has '{}' twice", key));
    return seen = true;
  }

  bool elementType(NpyHeader& header) {
    if (peek() == '[')
      return fail("its elements are records; save each field as an array of its own");
    std::string_view descr;
    if (!quoted(descr))
      return false;
    char order = descr.empty() ? '\0' : descr.front();
    for (const TypeEntry& entry : types) {
      if (descr.empty() || descr.substr(1) != entry.name)
        continue;
      if (order == '<' || order == '=' || (order == '|' && itemSize(entry.type) == 1)) {
        header.type = entry.type;
        return true;
      }
      if (order == '>')
        return fail(fmt::format("its elements are big-endian ('{0}'); save "
                                "array.astype('<{1}') instead",
                                descr, entry.name));
    }
    return fail(fmt::format("elements of type '{}' are not supported; save array.astype('<f4') "
                            "or '<f8' instead",
                            printable(descr.substr(0, 40))));
  }

  bool boolean(bool& out) {
    if (acceptWord("True"))
      out = true;
    else if (acceptWord("False"))
      out = false;
    else
      return fail("its header is damaged: 'fortran_order' is neither True nor False");
    return true;
  }

  bool tuple(std::vector<int64_t>& out) {
    if (!expect('('))
      return false;
    while (!accept(')')) {
      if (out.size() == maxRank)
        return fail(fmt::format("the array has more than {} dimensions", maxRank));
      int64_t size = 0;
      skipSpace();
      const char* begin = text.data() + at;
      auto [end, status] = std::from_chars(begin, text.data() + text.size(), size);
      if (status == std::errc::result_out_of_range)
        return fail("a size in its shape does not fit into 63 bits");
      if (status != std::errc())
        return fail("its header is damaged: 'shape' is not a tuple of integers");
      if (size < 0)
        return fail(fmt::format("its shape has a negative size, {}", size));
      at += static_cast<size_t>(end - begin);
      acceptWord("L"); // as Python 2 wrote long integers
      out.push_back(size);
      if (!accept(',') && (peek() != ')' || out.size() == 1))
        return fail("its header is damaged: 'shape' is not a tuple of integers");
    }
    return true;
  }

  std::string_view text;
  size_t at = 0;
  bool seenType = false, seenOrder = false, seenShape = false;
};

} // namespace

Result<NpyHeader> parseNpyHeader(std::string_view text) {
  NpyHeader header;
  Parser parser(text);
  if (!parser.dictionary(header))
    return Error{std::move(parser.problem)};
  return header;
}

Result<std::string> npyHeader(const HostArray& array) {
  if (array.dtype == DType::BF16 || (isHalf(array.dtype) && array.complex))
    return Error{fmt::format("NumPy has no {}{}; convert it to f32", dtypeName(array.dtype),
                             array.complex ? " complex numbers" : "")};
  const char* type = array.dtype == DType::F16   ? "<f2"
                     : array.dtype == DType::F32 ? array.complex ? "<c8" : "<f4"
                     : array.complex             ? "<c16"
                                                 : "<f8";
  std::span<const int64_t> shape = array.shape;
  if (array.complex)
    shape = shape.first(shape.size() - 1);
  std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                       type, shapeText(shape));
  constexpr size_t preamble = 10, alignment = 64;
  size_t total = (preamble + dictionary.size() + 1 + alignment - 1) / alignment * alignment;
  size_t length = total - preamble;
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(length & 0xff);
  header += static_cast<char>(length >> 8);
  header += dictionary;
  header.resize(total - 1, ' ');
  header += '\n';
  return header;
}

} // namespace rnnc::data
