// A library that looks like NVRTC 13.0 and makes of a source what the mock driver takes for its
// code. A source with "#error" is refused, with a log that names a line of a .rnn file.
#include <cstring>
#include <string>

namespace {

struct Program {
  std::string source, architecture, log;
};

int compiled = 0;

int copy(const std::string& from, char* to) {
  std::memcpy(to, from.c_str(), from.size() + 1);
  return 0;
}

std::string codeOf(const Program& program) {
  return "\x7f"
         "ELF " +
         program.architecture + "\n" + program.source;
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
int nvrtcCreateProgram(Program** program, const char* source, const char*, int, const char* const*,
                       const char* const*) {
  *program = new Program{source, "", ""};
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
    return 0;
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
