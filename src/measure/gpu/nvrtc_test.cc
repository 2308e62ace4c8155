#include "measure/gpu/nvrtc.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/files.h"
#include "measure/gpu/testing_cuda.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Nvrtc, IsFoundAmongTheWheelsOfAFramework) {
  const TemporaryFolder folder;
  const std::vector<fs::path> folders = {"", folder.path() / "torch", folder.path()};
  EXPECT_EQ(find_nvrtc(folders), "");
  const auto add = [&](const fs::path& place) {
    make_folder((folder.path() / place).parent_path());
    write_file(folder.path() / place, "");
    return folder.path() / place;
  };
  const fs::path older = add("nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  EXPECT_EQ(find_nvrtc(folders), older);
  const fs::path newer = add("nvidia/cu13/lib/libnvrtc.so.13");
  EXPECT_EQ(find_nvrtc(folders), newer);
  const fs::path beside = add("torch/libnvrtc.so.12");
  EXPECT_EQ(find_nvrtc(folders), beside) << "the first folder wins";
}

TEST(Nvrtc, IsAbsentWithAReason) {
  EXPECT_EQ(message_of([] { Nvrtc("libno-such-compiler.so.1"); }), "libno-such-compiler.so.1 is not there");
  EXPECT_EQ(message_of([] { Nvrtc("libm.so.6"); }), "libm.so.6 is no NVRTC");
}

TEST(Nvrtc, CompilesAndSaysWhatIsWrongWithAProgram) {
  const ScriptedCuda scripted(TBD_BINARY_DIR, "",
                              "bad.cu: bad.cu(3): warning: odd\nbad.cu(7): error: no such type\n1 error detected");
  const Nvrtc nvrtc(scripted.target().nvrtc);
  EXPECT_EQ(nvrtc.version(), "13.2");
  EXPECT_TRUE(nvrtc.compile("good.cu", "the text", {"--option"}).cubin.starts_with("--option\nthe text"));
  EXPECT_EQ(message_of([&] { nvrtc.compile("bad.cu", "", {}); }),
            "bad.cu does not compile: bad.cu(7): error: no such type");
  const ScriptedCuda silent(TBD_BINARY_DIR, "", "bad.cu: ");
  EXPECT_EQ(message_of([&] { nvrtc.compile("bad.cu", "", {}); }), "bad.cu does not compile: NVRTC_ERROR_COMPILATION");
}

}  // namespace
}  // namespace tbd
