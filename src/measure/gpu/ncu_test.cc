#include "measure/gpu/ncu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace tbd {
namespace {

using testing::HasSubstr;

constexpr const char* kHeader =
    R"("ID","Process ID","Kernel Name","Device","smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",)"
    R"("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum","smsp__sass_thread_inst_executed_op_fmul_pred_on.sum")"
    "\n";
constexpr const char* kUnits = R"("","","","","inst","inst","inst")"
                               "\n";
constexpr const char* kKernels = R"csv("0","7","void gemm<float, 4>(Params, int)","0","100","1,234,567","10")csv"
                                 "\n"
                                 R"("1","7","add","0","2,000","0","0")"
                                 "\n";

// An ncu that prints that text, notes how it was called, and runs a program that says something on stderr.
class ScriptedNcu : public testing::Test {
 protected:
  Fp32Instructions count(const std::string& says, const std::string& program_says = "") const {
    write_file(folder_.path() / "says", says);
    write_file(folder_.path() / "program", program_says);
    write_file(program(), cat("#!/usr/bin/env python3\nimport pathlib, sys\nhere = pathlib.Path(__file__).parent\n"
                              "(here / 'called').write_text(' '.join(sys.argv[1:]))\n"
                              "sys.stdout.write((here / 'says').read_text())\n"
                              "sys.stderr.write((here / 'program').read_text())\n"));
    std::filesystem::permissions(program(), std::filesystem::perms::owner_all);
    return count_fp32_instructions({.ncu = program(),
                                    .command = {"tbd", "step"},
                                    .environment = {{"PATH", "/usr/bin:/bin"}},
                                    .folder = folder_.path()});
  }
  std::string refusal(const std::string& says, const std::string& program_says = "") const {
    try {
      count(says, program_says);
    } catch (const Error& e) {
      return e.what();
    }
    return "counted";
  }
  std::filesystem::path program() const { return folder_.path() / "ncu"; }

  TemporaryFolder folder_;
};

TEST_F(ScriptedNcu, CountsTheInstructionsOfAllKernels) {
  const Fp32Instructions counted =
      count(cat("==PROF== Connected to process 7\nthe program's own line\n", kHeader, kUnits, kKernels));
  EXPECT_EQ(counted.kernels, 2);
  EXPECT_EQ(counted.fadd, 2100);
  EXPECT_EQ(counted.fmul, 10);
  EXPECT_EQ(counted.ffma, 1'234'567);
  EXPECT_EQ(counted.flops(), FlopCount{2100 + 10 + 2 * 1'234'567});
  const std::string called = read_file(folder_.path() / "called");
  EXPECT_THAT(called, HasSubstr("--csv --page raw"));
  EXPECT_THAT(called, HasSubstr("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum tbd step"));
}

TEST_F(ScriptedNcu, SaysWhyItMayNotCount) {
  EXPECT_THAT(refusal("==PROF== Connected to process 7\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission "
                      "to access NVIDIA GPU Performance Counters on the target device 0.\n"),
              HasSubstr("NVreg_RestrictProfilingToAdminUsers"));
  EXPECT_EQ(refusal("==ERROR== The application returned an error code (1).\n"),
            "ncu: The application returned an error code (1)");
}

TEST_F(ScriptedNcu, GivesTheProgramsLastWords) {
  EXPECT_EQ(
      refusal("==ERROR== The application returned an error code (3).\n", "loading\ntbd: error: it was killed\n\n"),
      "ncu: The application returned an error code (3); the program's last words: tbd: error: it was killed");
}

TEST_F(ScriptedNcu, RefusesOutputsThatLackSomething) {
  EXPECT_THAT(refusal("==PROF== Disconnected\n"), HasSubstr("no kernel"));
  EXPECT_THAT(refusal(cat(kHeader, kUnits)), HasSubstr("no kernel"));
  EXPECT_THAT(refusal("\"ID\",\"Kernel Name\"\n\"0\",\"add\"\n"), HasSubstr("no column"));
  EXPECT_THAT(refusal(cat(kHeader, kUnits, "\"0\",\"7\",\"add\"\n")), HasSubstr("is cut"));
  EXPECT_THAT(refusal(cat(kHeader, kUnits, R"("0","7","add","0","n/a","1","1")", "\n")), HasSubstr("'n/a'"));
}

TEST_F(ScriptedNcu, IsNotThere) {
  try {
    count_fp32_instructions(
        {.ncu = "ncu", .command = {"tbd"}, .environment = {{"PATH", folder_.path()}}, .folder = folder_.path()});
    FAIL() << "it was found";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::not_found);
  }
}

}  // namespace
}  // namespace tbd
