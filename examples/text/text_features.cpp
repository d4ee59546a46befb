// Turns a real text into the inputs and params of a gated cell: the data for `rnnc run`.
#include "Features.h"
#include "data/Npz.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <unistd.h>

using namespace rnnc::data;

namespace {

constexpr const char* whereToGetText =
    "give a file or pipe a text in; one is in Debian's package bible-kjv:\n"
    "  bible -f gen1:1-rev22:21 | text_features --cell paragru --output paragru.npz";

struct Options {
  std::string input = "-", output, cell = "paragru";
  text::Level level = text::Level::Byte;
  text::Shape shape;
  uint64_t seed = 0;
};

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdin)
      std::fclose(file);
  }
};

Result<std::string> readText(const std::string& path) {
  if (path == "-" && ::isatty(STDIN_FILENO))
    return Error{fmt::format("no text: {}", whereToGetText)};
  std::unique_ptr<std::FILE, CloseFile> file(path == "-" ? stdin : std::fopen(path.c_str(), "rbe"));
  if (!file)
    return Error{
        fmt::format("{}: cannot be opened: {}; {}", path, std::strerror(errno), whereToGetText)};
  constexpr size_t largest = size_t{1} << 30;
  std::string content;
  std::vector<char> buffer(1 << 16);
  while (size_t got = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    content.append(buffer.data(), got);
    if (content.size() > largest)
      return Error{fmt::format("{}: is longer than 1 GiB", path)};
  }
  if (std::ferror(file.get()))
    return Error{fmt::format("{}: cannot be read: {}", path, std::strerror(errno))};
  if (content.empty())
    return Error{fmt::format("{}: is empty; {}", path == "-" ? "the text" : path, whereToGetText)};
  return content;
}

Status run(const Options& options) {
  Result<std::string> content = readText(options.input);
  if (!content)
    return content.error();
  text::Tokens tokens = text::tokenize(*content, options.level);
  Result<std::vector<NamedArray>> arrays =
      text::features(tokens, *text::cellNames(options.cell), options.shape, options.seed);
  if (!arrays)
    return arrays.error();
  if (Status status = writeNpz(options.output, *arrays); !status)
    return status;

  fmt::print("{} bytes of text, {} tokens, seed {}\n", content->size(), tokens.ids.size(),
             options.seed);
  fmt::print("{}:", options.output);
  for (const NamedArray& named : *arrays)
    fmt::print(" {} {}", named.name, shapeText(named.array.shape));
  fmt::print("\n");
  return success();
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app("Writes the inputs and params of a gated cell over a text as an .npz file.");
  Options options;
  const std::map<std::string, text::Level> levels = {{"byte", text::Level::Byte},
                                                     {"word", text::Level::Word}};
  app.add_option("text", options.input, "a plain text file; - or nothing: standard input");
  app.add_option("--output,-o", options.output, "the .npz file to write")->required();
  app.add_option("--cell", options.cell, "paragru or paralstm")
      ->check(CLI::IsMember({"paragru", "paralstm"}))
      ->capture_default_str();
  app.add_option("--tokens", options.level, "byte or word")
      ->transform(CLI::CheckedTransformer(levels))
      ->option_text("byte|word [byte]");
  auto addSize = [&](const char* name, int64_t& size, const char* what) {
    app.add_option(name, size, what)
        ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
        ->capture_default_str();
  };
  addSize("--batch", options.shape.batch, "pieces of the text side by side");
  addSize("--time", options.shape.time, "tokens a piece");
  addSize("--width", options.shape.width, "channels of the cell");
  addSize("--embedding", options.shape.embedding, "numbers a token");
  app.add_option("--seed", options.seed, "of all weights")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (Status status = run(options); !status) {
    fmt::print(stderr, "text_features: error: {}\n", status.error().text);
    return 1;
  }
  return 0;
}
