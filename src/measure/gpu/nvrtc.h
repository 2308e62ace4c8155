// NVRTC, CUDA's compiler as a library, which is loaded at run time: a program's text in, machine code of a device out.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/gpu/cuda_functions.h"

namespace tbd {

// NVRTC in the first of these folders that has it: a folder of libraries, or one into which CUDA's wheels were unpacked
// (nvidia/cu13/lib, nvidia/cuda_nvrtc/lib). Empty where none has.
std::filesystem::path find_nvrtc(std::span<const std::filesystem::path> folders);

struct CompiledProgram {
  std::string cubin;  // machine code
  std::string ptx;    // what it was made of; empty where this NVRTC gives none beside machine code
};

class Nvrtc {
 public:
  // `library`: a path; empty: what the system's loader finds, the newest version first. Throws Error(unsupported).
  explicit Nvrtc(const std::string& library = "");

  std::string version() const;  // "13.2"
  // `name`: for messages. Throws Error(invalid) with what the compiler says first.
  CompiledProgram compile(const std::string& name, const std::string& text,
                          const std::vector<std::string>& options) const;

 private:
  CudaFunctions functions_;
};

}  // namespace tbd
