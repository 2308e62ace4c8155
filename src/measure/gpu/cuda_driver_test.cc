#include "measure/gpu/cuda_driver.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.h"

namespace tbd {
namespace {

CudaDevices scripted(const char* script) {
  ::setenv("TBD_SCRIPTED_CUDA", script, 1);
  return cuda_devices(TBD_BINARY_DIR "/scripted/libcuda.so.1");
}

TEST(CudaDevices, AreThoseThatTheDriverShows) {
  EXPECT_EQ(scripted("0 2").count, 2);
  EXPECT_EQ(scripted("0 2").reason, "");
}

TEST(CudaDevices, AreNoneWithoutADriverOrADevice) {
  EXPECT_EQ(cuda_devices("libno-such-driver.so.1").reason, "libno-such-driver.so.1 is not there");
  EXPECT_NE(cuda_devices("/proc/self/stat").reason, "/proc/self/stat is not there") << "it is no library";
  EXPECT_EQ(cuda_devices("libm.so.6").reason, "libm.so.6 is no CUDA driver");
  EXPECT_EQ(scripted("0 0").reason, "the driver shows no device");
}

TEST(CudaDevices, NameWhatTheDriverSaysOfAnError) {
  EXPECT_EQ(scripted("100 0").reason, "no CUDA-capable device is detected (cuInit: 100)");
  EXPECT_EQ(scripted("0 -3").reason, "an unknown error (cuDeviceGetCount: 3)");
  EXPECT_EQ(scripted("0 -3").count, 0);
}

TEST(CudaBuild, IsKnownWithoutAContext) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "script";
  write_file(file, "capability 86\nfree 4000\n");
  ::setenv("TBD_SCRIPTED_CUDA", ("0 2 " + file).c_str(), 1);
  const CudaBuild build = cuda_build(1, TBD_BINARY_DIR "/scripted/libcuda.so.1");
  EXPECT_EQ(build.capability, 86);
  EXPECT_EQ(build.memory_bytes, 8000);
  EXPECT_EQ(build.uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e01");
  EXPECT_THROW(cuda_build(2, TBD_BINARY_DIR "/scripted/libcuda.so.1"), Error);
}

}  // namespace
}  // namespace tbd
