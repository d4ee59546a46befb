//===- LineWriter.cpp - text whose lines know where they come from ---------------------------===//

#include "Target/Cuda/LineWriter.h"

#include "llvm/ADT/StringExtras.h"

using namespace rnnc::cuda;

std::string LineWriter::printable(llvm::StringRef name) {
  std::string text;
  for (char c : name)
    text += llvm::isPrint(c) && c != '"' && c != '\\' ? c : '?';
  return text;
}

void LineWriter::line(const llvm::Twine& more) {
  std::string lines = more.str();
  text += lines + "\n";
  int64_t count = 1 + llvm::StringRef(lines).count('\n');
  written += count;
  placeLine += count;
}

void LineWriter::from(llvm::StringRef file, int64_t number) {
  std::string name = printable(file);
  if (place == name && placeLine == number)
    return;
  text += "#line " + std::to_string(number) + (place == name ? "" : " \"" + name + "\"") + "\n";
  ++written;
  place = std::move(name);
  placeLine = number;
}

void LineWriter::fromUnit() {
  if (place.empty())
    return;
  ++written;
  text += "#line " + std::to_string(written + 1) + " \"" + unit + "\"\n";
  place.clear();
  placeLine = written + 1;
}
