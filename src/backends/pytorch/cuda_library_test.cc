#include "backends/pytorch/cuda_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "backends/pytorch/test_support.h"
#include "base/files.h"

namespace tbd::pytorch {
namespace {

namespace fs = std::filesystem;

class CudaLibrary : public testing::Test {
 protected:
  fs::path make(const std::string& name) const {
    const fs::path file = fs::path(folder_.path()) / name;
    fs::create_directories(file.parent_path());
    write_file(file, "");
    return file;
  }

  TemporaryFolder folder_;
};

TEST_F(CudaLibrary, IsAbsentInATorchForCpus) {
  EXPECT_EQ(cuda_library_of(make("torch-1/torch/lib/libtorch_cpu.so")), fs::path());
}

TEST_F(CudaLibrary, LiesInTheFolderThatTheSetUpMakes) {
  const fs::path apart = make("torch-1-cuda/torch/lib/libtorch_cuda.so");
  EXPECT_EQ(cuda_library_of(make("torch-1/torch/lib/libtorch_cpu.so")), apart);
}

TEST_F(CudaLibrary, BesideTorchComesFirst) {
  make("torch-1-cuda/torch/lib/libtorch_cuda.so");
  const fs::path beside = make("torch-1/torch/lib/libtorch_cuda.so");
  EXPECT_EQ(cuda_library_of(make("torch-1/torch/lib/libtorch_cpu.so")), beside);
}

TEST_F(CudaLibrary, ItsAbsenceIsOneSentence) {
  if (!cuda_library().empty()) GTEST_SKIP() << "this torch has CUDA";
  EXPECT_THAT(sentence_from([] { load_cuda_library(); }), testing::HasSubstr("this torch has no CUDA"));
}

// Without a driver it loads all the same: torch then says that no device answers. In a process of its own, for other
// tests look at what is loaded.
TEST_F(CudaLibrary, LoadsWithAllThatItNeeds) {
  if (cuda_library().empty()) GTEST_SKIP() << "this torch has no CUDA";
  const auto load = [] {
    load_cuda_library();
    device_graphs(at::Device("cuda:0"));  // throws where a function is missing
    std::_Exit(0);
  };
  EXPECT_EXIT(load(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tbd::pytorch
