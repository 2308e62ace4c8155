#include "backends/mxnet/memory_pass.h"

#include <gmock/gmock.h>
#include <malloc.h>

#include <fstream>

#include "backends/mxnet/test_programs.h"
#include "models/model.h"
#include "toy_programs.h"

namespace tbd::mxnet {
namespace {

using testing::HasSubstr;

struct MemoryRun {
  MemoryTotals live{};
  MemoryLog log;
  int64_t of(MemoryClass kind) const { return live[static_cast<size_t>(kind)]; }
};

MemoryRun run(const Program& program, int64_t batch, int64_t steps) {
  MemoryLedger ledger(node_names(program));
  auto session = std::make_unique<MxnetSession>();
  session->load(program, {.bindings = {{"N", batch}}, .seed = 5, .ledger = &ledger});
  session->write(initial_weights(program));
  session->stage(random_batch(program, {{"N", batch}}));
  for (int64_t step = 1; step <= steps; ++step) session->step(at_step(step));
  return {ledger.live(), ledger.log()};
}

int64_t parameter_bytes(const Program& program) {
  int64_t bytes = 0;
  for (const Parameter& p : program.parameters) bytes += p.shape.elements() * static_cast<int64_t>(size_of(p.dtype));
  return bytes;
}

Program tiny_fp32_resnet() { return with_precision(find_model("resnet50").config("tiny").program(), Precision::kFp32); }

// Sgd with momentum: each weight has one gradient and one momentum of its size.
TEST(MxnetMemory, WeightsGradientsAndMomentumHaveTheSizeOfTheParameters) {
  const Program program = tiny_fp32_resnet();
  const MemoryRun memory = run(program, 4, 2);
  EXPECT_EQ(memory.of(MemoryClass::weight), parameter_bytes(program));
  EXPECT_EQ(memory.of(MemoryClass::weight_grad), parameter_bytes(program));
  EXPECT_EQ(memory.of(MemoryClass::optimizer_state), parameter_bytes(program));
}

TEST(MxnetMemory, RunningStatisticsAreAuxiliary) {
  const Program program = tiny_fp32_resnet();
  int64_t bytes = 0;
  for (const Parameter& b : program.buffers) bytes += b.shape.elements() * static_cast<int64_t>(size_of(b.dtype));
  ASSERT_GT(bytes, 0);
  EXPECT_GE(run(program, 4, 1).of(MemoryClass::auxiliary), bytes);
}

TEST(MxnetMemory, InputsGrowWithTheBatch) {
  const Program program = tiny_fp32_resnet();
  const int64_t two = run(program, 2, 1).of(MemoryClass::input), four = run(program, 4, 1).of(MemoryClass::input);
  constexpr int64_t kNorm = 4;
  EXPECT_EQ(four - kNorm, 2 * (two - kNorm));
}

TEST(MxnetMemory, PlannedMemoryIsOneClassAllocatedInTheFirstStep) {
  const Program program = tiny_fp32_resnet();
  EXPECT_EQ(run(program, 4, 0).of(MemoryClass::planned), 0);
  const MemoryRun memory = run(program, 4, 1);
  EXPECT_GT(memory.of(MemoryClass::planned), 1 << 20);
  for (const MemoryClass none : {MemoryClass::feature_map, MemoryClass::workspace, MemoryClass::unexplained})
    EXPECT_EQ(memory.of(none), 0) << name(none);
  EXPECT_EQ(memory.log.evidence, MemoryEvidence::plan);
  EXPECT_THAT(memory.log.note, HasSubstr("planned"));
}

TEST(MxnetMemory, LaterStepsKeepNothing) {
  const MemoryRun few = run(tiny_fp32_resnet(), 4, 2), many = run(tiny_fp32_resnet(), 4, 8);
  EXPECT_EQ(many.log.blocks.size(), few.log.blocks.size());
}

TEST(MxnetMemory, CountsWeightsSharedByPhasesOnce) {
  const Program program = with_precision(toy_program("penalty"), Precision::kFp32);
  EXPECT_EQ(run(program, 4, 3).of(MemoryClass::weight), parameter_bytes(program));
}

int64_t anonymous_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:")) return std::stoll(line.substr(8)) * 1024;
  return 0;
}

// The resident memory of the process grows by what is told: some of it is never touched, and the process keeps books.
TEST(MxnetMemory, SumMatchesTheGrowthOfTheProcess) {
  const Program program = program_by(
      [](Builder& g) {
        Tensor x = g.input("image", {Builder::batch(), 16, 128, 128});
        for (int64_t i = 0; i < 4; ++i)
          x = g.relu(g.conv2d(cat("conv", i), x, {.out = 16, .kernel = 3, .pads = {1, 1, 1, 1}}));
        g.loss("loss", g.mean(x));
      },
      Precision::kFp32);
  MemoryLedger ledger(node_names(program));
  mallopt(M_MMAP_THRESHOLD, 128 << 10);  // large arrays get pages of their own, not those that other tests left free
  malloc_trim(0);
  const int64_t before = anonymous_bytes();
  auto session = std::make_unique<MxnetSession>();
  session->load(program, {.bindings = {{"N", 16}}, .seed = 5, .ledger = &ledger});
  session->write(initial_weights(program));
  session->stage(random_batch(program, {{"N", 16}}));
  for (int64_t step = 1; step <= 2; ++step) session->step(at_step(step));
  malloc_trim(0);
  const double grown = static_cast<double>(anonymous_bytes() - before), told = static_cast<double>(ledger.live_bytes());
  EXPECT_GT(told, 64 << 20);
  EXPECT_GT(told, 0.85 * grown);
  EXPECT_LT(told, 1.25 * grown);
}

}  // namespace
}  // namespace tbd::mxnet
