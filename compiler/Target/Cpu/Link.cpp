//===- Link.cpp - objects into one file ------------------------------------------------------===//

#include "Target/Cpu/Link.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <vector>

LLD_HAS_DRIVER(elf)

using namespace rnnc;
using llvm::Error;
using llvm::Expected;

static Error fail(const llvm::Twine& what, const llvm::Twine& why) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what + ": " + why);
}

static Error write(llvm::StringRef path, llvm::StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (error)
    return fail(path, error.message());
  file << bytes;
  file.close();
  if (!file.has_error())
    return Error::success();
  error = file.error();
  file.clear_error();
  return fail(path, error.message());
}

Expected<std::string> rnnc::link(llvm::ArrayRef<std::string> objects, LinkKind kind) {
  llvm::SmallString<128> folder; // lld reads and writes files
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("rnnc-link", folder))
    return fail("a folder for temporary files", error.message());
  auto remove = llvm::make_scope_exit([&] { llvm::sys::fs::remove_directories(folder); });

  std::vector<std::string> words{"ld.lld", "--threads=1"};
  auto add = [&](const std::string& name) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    words.push_back(path.str().str());
    return words.back();
  };
  if (kind == LinkKind::Shared)
    // The bundle alone is seen: kernels are hidden.
    for (const char* word : {"-shared", "--build-id=none", "-z", "now", "-z", "noexecstack"})
      words.push_back(word);
  else
    words.push_back("-r");
  words.push_back("-o");
  std::string output = add("linked");
  for (size_t i = 0; i < objects.size(); ++i)
    if (Error error = write(add(std::to_string(i) + ".o"), objects[i]))
      return error;

  std::vector<const char*> arguments;
  for (const std::string& word : words)
    arguments.push_back(word.c_str());
  std::string text;
  llvm::raw_string_ostream stream(text);
  lld::Result result = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return fail("linking", text);
  auto buffer = llvm::MemoryBuffer::getFile(output);
  if (!buffer)
    return fail(output, buffer.getError().message());
  return (*buffer)->getBuffer().str();
}
