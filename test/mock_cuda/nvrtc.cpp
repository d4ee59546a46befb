// A library that looks like NVRTC 13.0 and makes of a source what the mock driver takes for its
// code. A source with "#error" is refused, with a log that names a line of a .rnn file.
//
// With RNN_MOCK_COMPILER, a command that is given a folder, in which it makes unit.so of unit.cpp,
// the code holds the kernels as well, for the host (compiler.in).
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

struct Program {
  std::string source, architecture, log;
  std::vector<std::pair<std::string, std::string>> headers; ///< name and text
  std::string library;                                      ///< kernels for the host, or empty
};

int compiled = 0;

int copy(const std::string& from, char* to) {
  std::memcpy(to, from.c_str(), from.size() + 1);
  return 0;
}

std::string codeOf(const Program& program) {
  std::string code = "\x7f"
                     "ELF " +
                     program.architecture;
  if (program.library.empty()) {
    return code + "\n" + program.source;
  }
  code += " " + std::to_string(program.library.size()) + "\n" + program.source;
  return code + std::string(1, '\0') + program.library;
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The source for the host: the same, and every kernel's place in it. A kernel's name is the last
/// word before its first parenthesis but that of its launch bounds.
std::string forTheHost(const std::string& source) {
  const std::string begin = "extern \"C\" __global__ void", bounds = "__launch_bounds__(";
  std::string text = source + "\n#include \"mock_cuda/entry.hpp\"\n";
  for (size_t at = source.find(begin); at != source.npos; at = source.find(begin, at)) {
    at += begin.size();
    size_t name = source.find_first_not_of(" \n", at);
    if (source.compare(name, bounds.size(), bounds) == 0) {
      name = source.find_first_not_of(" \n", source.find(')', name) + 1);
    }
    text += "MOCK_ENTRY(" + source.substr(name, source.find('(', name) - name) + ")\n";
  }
  return text;
}

bool compileForTheHost(Program& program, const std::string& compiler) {
  std::string folder = (std::filesystem::temp_directory_path() / "mock-nvrtc-XXXXXX").string();
  if (!mkdtemp(folder.data())) {
    program.log = "no temporary folder";
    return false;
  }
  const std::filesystem::path root = folder;
  for (const auto& [name, text] : program.headers) {
    write(root / name, text);
  }
  write(root / "unit.cpp", forTheHost(program.source));
  const std::string command = compiler + " " + folder + " > " + folder + "/log 2>&1";
  const bool isMade = std::system(command.c_str()) == 0;
  program.log = isMade ? "" : read(root / "log");
  program.library = isMade ? read(root / "unit.so") : "";
  std::filesystem::remove_all(root);
  return isMade;
}

} // namespace

extern "C" {

/// How often something was compiled so far.
int mock_nvrtc_compiled() { return compiled; }

int nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 0;
  return 0;
}
int nvrtcGetNumSupportedArchs(int* count) {
  *count = 3;
  return 0;
}
int nvrtcGetSupportedArchs(int* architectures) {
  const int known[] = {80, 90, 120};
  std::memcpy(architectures, known, sizeof(known));
  return 0;
}
int nvrtcCreateProgram(Program** program, const char* source, const char*, int headers,
                       const char* const* texts, const char* const* names) {
  *program = new Program{source, "", "", {}, ""};
  for (int i = 0; i < headers; ++i) {
    (*program)->headers.emplace_back(names[i], texts[i]);
  }
  return 0;
}
int nvrtcDestroyProgram(Program** program) {
  delete *program;
  *program = nullptr;
  return 0;
}
int nvrtcCompileProgram(Program* program, int count, const char* const* options) {
  ++compiled;
  const std::string name = "--gpu-architecture=";
  for (int i = 0; i < count; ++i) {
    if (std::strncmp(options[i], name.c_str(), name.size()) == 0) {
      program->architecture = options[i] + name.size();
    }
  }
  if (program->source.find("#error") == std::string::npos) {
    const char* compiler = std::getenv("RNN_MOCK_COMPILER");
    return compiler && !compileForTheHost(*program, compiler) ? 6 : 0;
  }
  program->log = "broken.rnn(9): error: no such thing";
  return 6;
}
int nvrtcGetProgramLogSize(Program* program, size_t* size) {
  *size = program->log.size() + 1;
  return 0;
}
int nvrtcGetProgramLog(Program* program, char* log) { return copy(program->log, log); }
int nvrtcGetPTXSize(Program* program, size_t* size) {
  *size = codeOf(*program).size() + 1;
  return 0;
}
int nvrtcGetCUBINSize(Program* program, size_t* size) { return nvrtcGetPTXSize(program, size); }
int nvrtcGetPTX(Program* program, char* code) { return copy(codeOf(*program), code); }
int nvrtcGetCUBIN(Program* program, char* code) { return copy(codeOf(*program), code); }
const char* nvrtcGetErrorString(int result) {
  return result == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_SUCCESS";
}

} // extern "C"
