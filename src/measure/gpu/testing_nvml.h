// The scripted NVML of tests/scripted_nvml.cc, for tests.
#pragma once
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/files.h"

namespace tbd {

// Its library answers by `script` from the first Nvml of it on; the language is described in tests/scripted_nvml.cc.
class ScriptedNvml {
 public:
  ScriptedNvml(std::string_view build_folder, std::string_view script)
      : library_(std::string(build_folder) + "/scripted/libnvidia-ml.so.1") {
    const std::string path = folder_.path() / "script";
    write_file(path, script);
    setenv("TBD_SCRIPTED_NVML", path.c_str(), 1);
  }
  ~ScriptedNvml() { unsetenv("TBD_SCRIPTED_NVML"); }
  ScriptedNvml(const ScriptedNvml&) = delete;
  ScriptedNvml& operator=(const ScriptedNvml&) = delete;

  const std::string& library() const { return library_; }

 private:
  TemporaryFolder folder_;
  std::string library_;
};

}  // namespace tbd
