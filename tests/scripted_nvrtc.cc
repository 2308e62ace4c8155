// An NVRTC for tests. Its "machine code" is the options, one a line, and the program's text, for
// tests/scripted_cuda.cc. TBD_SCRIPTED_NVRTC names a program that does not compile and what the log says of it,
// "wgmma.cu: LOG".
#include <cstdlib>
#include <cstring>
#include <string>

#include "measure/gpu/cuda_abi.h"

namespace {

constexpr int kInvalidProgram = 4, kCompilationFailed = 6;

struct Compilation {
  std::string name, text, image, log;
};
Compilation& of(tbd::cuda::Program program) { return *reinterpret_cast<Compilation*>(program); }

int size_of(const std::string& content, size_t* size) {
  *size = content.size() + 1;
  return tbd::cuda::kSuccess;
}

int copy(const std::string& content, char* to) {
  std::memcpy(to, content.c_str(), content.size() + 1);
  return tbd::cuda::kSuccess;
}

}  // namespace

extern "C" {

using tbd::cuda::Program;

const char* nvrtcGetErrorString(int code) {
  if (code == kCompilationFailed) return "NVRTC_ERROR_COMPILATION";
  return code == kInvalidProgram ? "NVRTC_ERROR_INVALID_PROGRAM" : nullptr;
}

int nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 2;
  return tbd::cuda::kSuccess;
}

int nvrtcCreateProgram(Program* program, const char* text, const char* name, int headers, const char* const*,
                       const char* const*) {
  if (headers != 0) return kInvalidProgram;
  *program = reinterpret_cast<Program>(new Compilation{name, text, "", ""});
  return tbd::cuda::kSuccess;
}

int nvrtcDestroyProgram(Program* program) {
  delete &of(*program);
  *program = nullptr;
  return tbd::cuda::kSuccess;
}

int nvrtcCompileProgram(Program program, int count, const char* const* options) {
  const char* script = std::getenv("TBD_SCRIPTED_NVRTC");
  const std::string fault = script ? script : "", prefix = of(program).name + ": ";
  if (fault.starts_with(prefix)) {
    of(program).log = fault.substr(prefix.size());
    return kCompilationFailed;
  }
  for (int i = 0; i < count; ++i) of(program).image += std::string(options[i]) + "\n";
  of(program).image += of(program).text;
  return tbd::cuda::kSuccess;
}

int nvrtcGetProgramLogSize(Program program, size_t* size) { return size_of(of(program).log, size); }
int nvrtcGetProgramLog(Program program, char* log) { return copy(of(program).log, log); }
int nvrtcGetCUBINSize(Program program, size_t* size) { return size_of(of(program).image, size); }
int nvrtcGetPTXSize(Program, size_t*) { return kInvalidProgram; }  // none beside machine code
int nvrtcGetCUBIN(Program program, char* image) { return copy(of(program).image, image); }
}
