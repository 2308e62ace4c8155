#include "cli/ncu_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/files.h"

namespace tbd::cli {
namespace {

using testing::HasSubstr;

// A context whose PATH has an ncu that counts one kernel of 10 additions, 20 multiplications and 100 of both, and notes
// how it was called.
class NcuOfAProfile : public testing::Test {
 protected:
  NcuOfAProfile() {
    write_file(folder_.path() / "ncu",
               "#!/usr/bin/env python3\nimport pathlib, sys\n"
               "pathlib.Path(__file__).with_name('called').write_text(' '.join(sys.argv[1:]))\n"
               "ops = [f'smsp__sass_thread_inst_executed_op_{op}_pred_on.sum' for op in ('fadd', 'fmul', 'ffma')]\n"
               "print('\"ID\",\"Kernel Name\",' + ','.join(f'\"{op}\"' for op in ops))\n"
               "print('\"\",\"\",\"inst\",\"inst\",\"inst\"')\nprint('\"0\",\"gemm\",\"10\",\"20\",\"100\"')\n");
    std::filesystem::permissions(folder_.path() / "ncu", std::filesystem::perms::owner_all);
    context_.program = "/here/tbd";
    record_.run.request = {.model = "resnet50", .batch = 8, .device = Device("cuda:0")};
    static_cast<Workload&>(record_.run.workload) = record_.run.request;
    record_.run.workload.samples_per_step = 8;
    record_.run.train_flops = 25;
  }

  void look_in(const std::string& path) { context_.environment["PATH"] = path; }

  TemporaryFolder folder_;
  std::ostringstream out_, err_;
  Context context_{out_, err_};
  Record record_;
};

TEST_F(NcuOfAProfile, ComparesAStepsFlops) {
  look_in(folder_.path().string() + ":/usr/bin:/bin");
  const NcuCheck check = ncu_check(context_, record_);
  EXPECT_EQ(check.reason, "");
  EXPECT_EQ(check.counted, 230);
  EXPECT_EQ(check.computed, 200);
  EXPECT_EQ(check.kernels, 1);
  EXPECT_THAT(
      read_file(folder_.path() / "called"),
      testing::AllOf(HasSubstr("/here/tbd step resnet50 "), HasSubstr("--device cuda:0"), HasSubstr("--batch 8")));
  EXPECT_THAT(to_text(ncu_table(check)), HasSubstr("1.15"));
  EXPECT_EQ(to_json(check)["counted_flops"], 230);
}

TEST_F(NcuOfAProfile, SaysWhyItCountsNothing) {
  look_in("/nonexistent");
  EXPECT_THAT(ncu_check(context_, record_).reason, HasSubstr("ncu"));
  record_.run.workload.precision = Precision::kBf16;
  EXPECT_THAT(ncu_check(context_, record_).reason, HasSubstr("computed in bf16"));
  record_.run.workload.device = Device::kCpu;
  const NcuCheck check = ncu_check(context_, record_);
  EXPECT_THAT(check.reason, HasSubstr("ran on cpu"));
  EXPECT_FALSE(check.counted);
  EXPECT_EQ(check.computed, 200);
  EXPECT_THAT(to_text(ncu_table(check)), HasSubstr("Not counted: "));
}

}  // namespace
}  // namespace tbd::cli
