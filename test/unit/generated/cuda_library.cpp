//===- cuda_library.cpp - CUDA text compiled for the host and loaded --------------------------===//

#include "cuda_library.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <dlfcn.h>

using namespace rnnc::generated;

namespace {

/// A folder of its own, removed at the end: the loaded library needs no file.
class Folder {
public:
  Folder() { made = !llvm::sys::fs::createUniqueDirectory("generated-cuda", path); }
  ~Folder() {
    if (made)
      llvm::sys::fs::remove_directories(path);
  }
  std::string file(const std::string& name) const {
    llvm::SmallString<128> full(path);
    llvm::sys::path::append(full, name);
    return full.str().str();
  }
  bool write(const std::string& name, const std::string& text) const {
    std::error_code failed;
    llvm::raw_fd_ostream out(file(name), failed);
    out << text;
    return !failed;
  }
  bool made = false;

private:
  llvm::SmallString<128> path;
};

/// The compiler, without a shell; its messages where it failed.
std::string runClang(const Folder& folder, std::vector<std::string> arguments) {
  std::string log = folder.file("log");
  std::vector<llvm::StringRef> list{RNN_HOST_COMPILER};
  list.insert(list.end(), arguments.begin(), arguments.end());
  std::optional<llvm::StringRef> redirects[] = {std::nullopt, log, log};
  std::string problem;
  if (llvm::sys::ExecuteAndWait(RNN_HOST_COMPILER, list, std::nullopt, redirects, 0, 0, &problem) ==
      0)
    return "";
  auto text = llvm::MemoryBuffer::getFile(log);
  return problem + (text ? (*text)->getBuffer().take_front(8000).str() : "");
}

/// No optimisation: these kernels run for a moment, and compile for a second.
const std::vector<std::string> kOptions = {"-std=c++20",
                                           "-O0",
                                           "-fPIC",
                                           "-ffp-contract=off",
                                           "-fno-optimize-sibling-calls",
                                           "-w",
                                           "-include",
                                           RNN_HOST_CUDA_FOLDER "/host_cuda.hpp",
                                           "-I" RNN_HOST_CUDA_FOLDER,
                                           "-I" RNN_DEVICE_HEADERS,
                                           "-I" RNN_GENERATED_FOLDER,
                                           "-I" RNN_EMITTED_FOLDER};

const char* const kRegister = R"(#include "cuda_unit.hpp"
std::vector<rnnc::generated::CudaKernel>* generated_kernels() {
  static std::vector<rnnc::generated::CudaKernel> kernels;
  return &kernels;
}
)";

std::string compile(const Folder& folder, const std::string& name) {
  std::vector<std::string> arguments = kOptions;
  arguments.insert(arguments.end(),
                   {"-c", folder.file(name + ".cpp"), "-o", folder.file(name + ".o")});
  return runClang(folder, std::move(arguments));
}

/// A kernel is extern "C", so it needs a name that no other one has.
std::string wrap(const CudaText& cell) {
  std::string defines, undefines, units;
  for (const std::string& system : cell.systems) {
    defines += "#define " + system + "_forward " + cell.name + "_" + system + "_forward\n";
    undefines += "#undef " + system + "_forward\n";
    units += "GENERATED_UNIT(" + cell.name + ", " + system + ")\n";
  }
  return "namespace " + cell.name + " {\n" + defines + "#include \"" + cell.name + ".cu\"\n" +
         undefines + "}\n" + units;
}

std::vector<CudaKernel> load(const std::string& file, std::string& error) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  using Kernels = std::vector<CudaKernel>* (*)();
  if (auto kernels =
          library ? reinterpret_cast<Kernels>(dlsym(library, "generated_kernels")) : nullptr)
    return *kernels();
  error = dlerror();
  return {};
}

} // namespace

std::vector<CudaKernel> rnnc::generated::loadCuda(const std::vector<CudaText>& texts,
                                                  size_t together, std::string& error) {
  Folder folder;
  std::vector<std::string> files{"kernels"}, link{"-shared", "-o", folder.file("units.so")};
  bool written = folder.made && folder.write("kernels.cpp", kRegister);
  for (size_t first = 0; first < texts.size(); first += together) {
    files.push_back("units" + std::to_string(first));
    std::string text = "#include \"cuda_unit.hpp\"\n";
    for (size_t i = first; i < std::min(first + together, texts.size()); ++i) {
      written &= folder.write(texts[i].name + ".cu", texts[i].text);
      text += wrap(texts[i]);
    }
    written &= folder.write(files.back() + ".cpp", text);
  }
  if (!written)
    error = "cannot write to a temporary folder";
  for (const std::string& file : files) {
    if (error.empty())
      error = compile(folder, file);
    link.push_back(folder.file(file + ".o"));
  }
  link.insert(link.end(), {RNN_HOST_CUDA_LIBRARY, "-ldl"});
  if (error.empty())
    error = runClang(folder, link);
  return error.empty() ? load(folder.file("units.so"), error) : std::vector<CudaKernel>();
}
