#include "measure/gpu/nvrtc.h"

#include "base/files.h"
#include "measure/gpu/cuda_abi.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

using cuda::Program;

constexpr CudaFunction<int*, int*> kNvrtcVersion{"nvrtcVersion"};
constexpr CudaFunction<Program*, const char*, const char*, int, const char* const*, const char* const*>
    kNvrtcCreateProgram{"nvrtcCreateProgram"};
constexpr CudaFunction<Program, int, const char* const*> kNvrtcCompileProgram{"nvrtcCompileProgram"};
constexpr CudaFunction<Program*> kNvrtcDestroyProgram{"nvrtcDestroyProgram"};

// A text or image of a program: the size of the one, then the thing itself.
struct Part {
  CudaFunction<Program, size_t*> size;
  CudaFunction<Program, char*> content;
};
constexpr Part kNvrtcLog{{"nvrtcGetProgramLogSize"}, {"nvrtcGetProgramLog"}};
constexpr Part kNvrtcCubin{{"nvrtcGetCUBINSize"}, {"nvrtcGetCUBIN"}};
constexpr Part kNvrtcPtx{{"nvrtcGetPTXSize"}, {"nvrtcGetPTX"}};

constexpr const char* kNvrtcNames[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
constexpr const char* kNvrtcPlaces[] = {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib", ""};

std::string nvrtc_words(const SharedLibrary& library, int code) {
  const auto explain = library.function<const char* (*)(int)>("nvrtcGetErrorString");
  const char* const text = explain ? explain(code) : nullptr;
  return text ? text : "";
}

CudaFunctions open_nvrtc(const std::string& library) {
  return CudaFunctions(library, kNvrtcCreateProgram.name, "NVRTC", nvrtc_words);
}

CudaFunctions first_nvrtc() {
  std::string reasons;
  for (const char* name : kNvrtcNames) {
    try {
      return open_nvrtc(name);
    } catch (const Error& e) {
      reasons += cat(reasons.empty() ? "" : ", ", e.what());
    }
  }
  fail(ErrorKind::unsupported, "CUDA's run-time compiler is missing: ", reasons);
}

// A program of the library, destroyed with this.
class OwnProgram {
 public:
  OwnProgram(const CudaFunctions& functions, const std::string& name, const std::string& text) : functions_(functions) {
    functions_.call(kNvrtcCreateProgram, &program_, text.c_str(), name.c_str(), 0, nullptr, nullptr);
  }
  ~OwnProgram() { functions_.code_of(kNvrtcDestroyProgram, &program_); }
  OwnProgram(const OwnProgram&) = delete;
  OwnProgram& operator=(const OwnProgram&) = delete;

  int compile(const std::vector<std::string>& options) const {
    std::vector<const char*> given;
    for (const std::string& option : options) given.push_back(option.c_str());
    return functions_.code_of(kNvrtcCompileProgram, program_, static_cast<int>(given.size()), given.data());
  }

  bool has(const Part& part) const {
    size_t size = 0;
    return functions_.code_of(part.size, program_, &size) == cuda::kSuccess;
  }

  std::string read(const Part& part) const {
    size_t size = 0;
    functions_.call(part.size, program_, &size);
    std::string content(size, '\0');
    functions_.call(part.content, program_, content.data());
    return content;
  }

 private:
  const CudaFunctions& functions_;
  Program program_ = nullptr;
};

// Its first line that speaks of an error, else its first.
std::string first_error(const std::string& log) {
  std::string first;
  for (const std::string& line : split(log.substr(0, log.find('\0')), '\n')) {
    const std::string text(trim(line));
    if (text.find("error") != std::string::npos) return text;
    if (first.empty()) first = text;
  }
  return first;
}

}  // namespace

fs::path find_nvrtc(std::span<const fs::path> folders) {
  for (const fs::path& folder : folders)
    for (const char* place : kNvrtcPlaces)
      for (const char* name : kNvrtcNames)
        if (const fs::path library = folder / place / name; !folder.empty() && is_file(library)) return library;
  return {};
}

Nvrtc::Nvrtc(const std::string& library) : functions_(library.empty() ? first_nvrtc() : open_nvrtc(library)) {}

std::string Nvrtc::version() const {
  int major = 0, minor = 0;
  functions_.call(kNvrtcVersion, &major, &minor);
  return cat(major, ".", minor);
}

CompiledProgram Nvrtc::compile(const std::string& name, const std::string& text,
                               const std::vector<std::string>& options) const {
  const OwnProgram program(functions_, name, text);
  if (const int code = program.compile(options)) {
    const std::string log = first_error(program.read(kNvrtcLog));
    fail(ErrorKind::invalid, name, " does not compile: ", log.empty() ? functions_.words(code) : log);
  }
  return {.cubin = program.read(kNvrtcCubin), .ptx = program.has(kNvrtcPtx) ? program.read(kNvrtcPtx) : ""};
}

}  // namespace tbd
