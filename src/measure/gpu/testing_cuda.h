// The scripted CUDA driver and NVRTC of tests/, for tests.
#pragma once
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "measure/gpu/gpu_peaks.h"

namespace tbd {

// One device that does as `script` says from the next CudaDevice on; the language is described in
// tests/scripted_cuda.cc. `uncompiled`: a program that does not compile and why, "wgmma.cu: LOG".
class ScriptedCuda {
 public:
  ScriptedCuda(std::string_view build_folder, std::string_view script, const std::string& uncompiled = "")
      : libraries_(cat(build_folder, "/scripted/")) {
    const std::string path = folder_.path() / "script";
    write_file(path, cat(script, "\nlog ", calls_file().string(), "\n"));
    write_file(calls_file(), "");
    setenv("TBD_SCRIPTED_CUDA", cat("0 1 ", path).c_str(), 1);
    setenv("TBD_SCRIPTED_NVRTC", uncompiled.c_str(), 1);
  }
  ~ScriptedCuda() {
    unsetenv("TBD_SCRIPTED_CUDA");
    unsetenv("TBD_SCRIPTED_NVRTC");
  }
  ScriptedCuda(const ScriptedCuda&) = delete;
  ScriptedCuda& operator=(const ScriptedCuda&) = delete;

  GpuTarget target() const {
    return {.nvrtc = libraries_ + "libnvrtc.so.13",
            .driver = libraries_ + "libcuda.so.1",
            .nvml = "libno-such-library.so.7"};
  }
  // What was launched, allocated and released, in order; those that begin with `what`.
  std::vector<std::string> calls(std::string_view what) const {
    std::vector<std::string> found;
    for (const std::string& line : split(read_file(calls_file()), '\n'))
      if (line.starts_with(what) && !line.empty()) found.push_back(line);
    return found;
  }

 private:
  std::filesystem::path calls_file() const { return folder_.path() / "calls"; }

  TemporaryFolder folder_;
  std::string libraries_;
};

}  // namespace tbd
