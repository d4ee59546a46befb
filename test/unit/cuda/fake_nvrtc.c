// A library that looks like NVRTC: FAKE_MAJOR.FAKE_MINOR, for sm_80 and sm_90, and nothing
// compiles.
#include <stddef.h>
#include <string.h>

typedef int nvrtcResult;
enum { kSuccess = 0, kCompilation = 6 };

static const char log_text[] = "ema.rnn(9): error: no such thing";

nvrtcResult nvrtcVersion(int* major, int* minor) {
  *major = FAKE_MAJOR;
  *minor = FAKE_MINOR;
  return kSuccess;
}
nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  *count = 2;
  return kSuccess;
}
nvrtcResult nvrtcGetSupportedArchs(int* archs) {
  archs[0] = 90;
  archs[1] = 80;
  return kSuccess;
}
nvrtcResult nvrtcCreateProgram(void** program, const char* source, const char* name, int headers,
                               const char* const* texts, const char* const* names) {
  (void)headers, (void)texts, (void)names;
  *program = source && name ? (void*)log_text : NULL;
  return kSuccess;
}
nvrtcResult nvrtcDestroyProgram(void** program) {
  *program = NULL;
  return kSuccess;
}
nvrtcResult nvrtcCompileProgram(void* program, int options, const char* const* option) {
  (void)program, (void)options, (void)option;
  return kCompilation;
}
nvrtcResult nvrtcGetProgramLogSize(void* program, size_t* size) {
  (void)program;
  *size = sizeof(log_text);
  return kSuccess;
}
nvrtcResult nvrtcGetProgramLog(void* program, char* log) {
  (void)program;
  memcpy(log, log_text, sizeof(log_text));
  return kSuccess;
}
static nvrtcResult none(void* program, size_t* size) {
  (void)program;
  *size = 0;
  return kCompilation;
}
nvrtcResult nvrtcGetPTXSize(void* program, size_t* size) { return none(program, size); }
nvrtcResult nvrtcGetCUBINSize(void* program, size_t* size) { return none(program, size); }
nvrtcResult nvrtcGetPTX(void* program, char* code) { return (void)program, (void)code, 1; }
nvrtcResult nvrtcGetCUBIN(void* program, char* code) { return (void)program, (void)code, 1; }
const char* nvrtcGetErrorString(nvrtcResult result) { return result ? "fake error" : "fine"; }
