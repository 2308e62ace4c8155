#include "runner/hardware.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "measure/peaks/judge.h"

namespace tbd {
namespace {

using ::testing::HasSubstr;

class GpuDescriptions : public ::testing::Test {
 protected:
  std::string written(const Json& json, const std::string& name = "gpu.json") const {
    const std::filesystem::path path = folder_.path() / name;
    write_file(path, json.dump());
    return path.string();
  }
  std::string refusal(const Json& json) const {
    try {
      (void)read_gpu_description(written(json));
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  std::filesystem::path folder() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

const Json kOwnWords = {{"name", "NVIDIA H100 80GB HBM3"},
                        {"memory", "80GiB"},
                        {"bandwidth", 3.35e12},
                        {"flop_rate", {{"fp32", 6.7e13}, {"bf16", 9.9e14}}}};

Peaks measured() {
  const PeakRate fma{.threads = 1, .samples = 3, .median = 6e13, .best = 6.1e13};
  const PeakRate triad{.threads = 1, .samples = 3, .median = 3e12, .best = 3e12};
  return {.kernels = {{.kernel = "fma_fp32", .type = "fp32", .unit = "vector", .all = fma},
                      {.kernel = "triad", .type = "bytes", .unit = "memory", .all = triad}},
          .gpu = PeakGpu{.name = "NVIDIA T4", .uuid = "GPU-1", .memory_bytes = int64_t{15} << 30}};
}

TEST_F(GpuDescriptions, AreReadInAPersonsWords) {
  const GpuDescription gpu = read_gpu_description(written(kOwnWords));
  EXPECT_EQ(gpu.name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(gpu.memory_bytes, int64_t{80} << 30);
  EXPECT_EQ(gpu.rates.flop_rate.at("bf16"), 9.9e14);
  EXPECT_EQ(gpu.rates.bandwidth, 3.35e12);
  EXPECT_THAT(gpu.rates.source, HasSubstr("described: "));
}

TEST_F(GpuDescriptions, AreWhatAnotherMachineMeasured) {
  const GpuDescription printed = read_gpu_description(written(to_json(measured())));
  EXPECT_EQ(printed.name, "NVIDIA T4");
  EXPECT_EQ(printed.memory_bytes, int64_t{15} << 30);
  EXPECT_EQ(printed.rates.flop_rate.at("fp32"), 6e13);
  EXPECT_EQ(printed.rates.bandwidth, 3e12);
  written({{"peaks", peaks_for_record(measured(), std::nullopt)}}, "run.json");
  EXPECT_EQ(read_gpu_description(folder()).rates.flop_rate, printed.rates.flop_rate) << "of a record";
}

TEST_F(GpuDescriptions, AreRefusedWithTheFileAndWhatIsWrong) {
  EXPECT_THROW((void)read_gpu_description(folder() / "none.json"), Error);
  EXPECT_THAT(refusal(Json::array()), HasSubstr("gpu.json: expected an object"));
  EXPECT_THAT(refusal(Json::object()), HasSubstr("it describes no GPU"));
  Peaks cores = measured();
  cores.gpu.reset();
  EXPECT_THAT(refusal(to_json(cores)), HasSubstr("it describes no GPU"));
  for (const auto& [key, value, reason] : std::initializer_list<std::tuple<const char*, Json, const char*>>{
           {"memory", "80", "'memory'"},
           {"memory", -1, "expected bytes above 0"},
           {"bandwidth", 0, "'bandwidth': expected a number above 0"},
           {"flop_rate", {{"bf16", 1e14}}, "lacks fp32"},
           {"flop_rate", 3, "expected an object"},
           {"memmory", "80GiB", "unknown key 'memmory', did you mean 'memory'"}}) {
    Json changed = kOwnWords;
    changed[key] = value;
    EXPECT_THAT(refusal(changed), HasSubstr(reason)) << key;
  }
}

}  // namespace
}  // namespace tbd
