//===- Source.cpp - reading a file, never more of it than the limit ---------------------------===//

#include "Frontend/Source.h"

#include <limits>

using namespace rnnc;
namespace fs = llvm::sys::fs;

namespace {
constexpr int64_t kMost = std::numeric_limits<uint32_t>::max() - 1;
constexpr size_t kPiece = 1 << 16;
} // namespace

int64_t rnnc::sourceLimit(const Limits& limits) { return std::min(limits.source, kMost); }

llvm::Expected<std::string> rnnc::readText(fs::file_t file, int64_t limit) {
  std::string text;
  llvm::Error error = llvm::Error::success();
  while (static_cast<int64_t>(text.size()) <= limit) {
    size_t old = text.size();
    text.resize(old + kPiece);
    auto got = fs::readNativeFile(file, llvm::MutableArrayRef(text.data() + old, kPiece));
    if (!got) {
      error = llvm::joinErrors(std::move(error), got.takeError());
      break;
    }
    text.resize(old + *got);
    if (*got == 0)
      break;
  }
  if (error)
    return std::move(error);
  return text;
}

static llvm::Expected<std::string> read(const std::string& path, int64_t limit) {
  auto file = fs::openNativeFileForRead(path);
  if (!file)
    return file.takeError();
  auto text = readText(*file, limit);
  fs::closeFile(*file);
  return text;
}

bool rnnc::readSource(const std::string& path, const Limits& limits,
                      DiagnosticEngine& diagnostics) {
  auto fail = [&](const char* code, std::string text, std::string hint = "") {
    diagnostics.setSource(path, "");
    diagnostics.report({Severity::Error, code, std::move(text), std::move(hint)});
    return false;
  };
  int64_t limit = sourceLimit(limits);
  auto tooLarge = [&](const std::string& size) {
    return fail("RNN0009", "the file has " + size + " bytes, the limit is " + std::to_string(limit),
                limit < kMost ? "raise it with --limit source=SIZE" : "");
  };
  fs::file_status status;
  if (std::error_code error = fs::status(path, status))
    return fail("RNN0008", "cannot read the file: " + error.message());
  if (fs::is_directory(status))
    return fail("RNN0008", "cannot read the file: it is a directory");
  if (fs::is_regular_file(status) && status.getSize() > static_cast<uint64_t>(limit))
    return tooLarge(std::to_string(status.getSize()));
  auto text = read(path, limit);
  if (!text)
    return fail("RNN0008", "cannot read the file: " + llvm::toString(text.takeError()));
  if (static_cast<int64_t>(text->size()) > limit)
    return tooLarge("more than " + std::to_string(limit));
  diagnostics.setSource(path, std::move(*text));
  return true;
}
