#include "record/memory_log.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "record/safetensors.h"

namespace tbd {
namespace {

using testing::HasSubstr;

class MemoryLogFile : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "memory.safetensors"; }
  std::string refusal() {
    try {
      read_memory_log(file());
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }
  std::string refusal_of(const MemoryLog& log) {
    write_memory_log(file(), log);
    return refusal();
  }

  TemporaryFolder folder_;
};

MemoryLog sample() {
  return {.blocks = {{100, 128, 0, kNeverFreed, -1, MemoryClass::weight, MemoryPhase::setup},
                     {40, 64, 1, 2, 1, MemoryClass::library_workspace, MemoryPhase::forward}},
          .event_ns = {5, 9, 12},
          .marks = {{0, 4, 0, MemoryPhase::setup}, {1, 8, 1, MemoryPhase::forward}},
          .nodes = {"conv", "layer1.0 norm"},
          .unknown_frees = 3,
          .evidence = MemoryEvidence::partial,
          .note = "outputs of host ops are missing"};
}

TEST_F(MemoryLogFile, ComesBackAsItWas) {
  write_memory_log(file(), sample());
  const MemoryLog log = read_memory_log(file());
  ASSERT_EQ(log.blocks.size(), 2u);
  EXPECT_EQ(log.blocks[0].freed, kNeverFreed);
  EXPECT_EQ(log.blocks[0].node, -1);
  EXPECT_EQ(log.blocks[1].requested, 40);
  EXPECT_EQ(log.blocks[1].held, 64);
  EXPECT_EQ(log.blocks[1].freed, 2u);
  EXPECT_EQ(log.blocks[1].kind, MemoryClass::library_workspace);
  EXPECT_EQ(log.blocks[1].phase, MemoryPhase::forward);
  EXPECT_EQ(log.event_ns, sample().event_ns);
  EXPECT_EQ(log.nodes, sample().nodes);
  EXPECT_EQ(log.marks[1].time_ns, 8);
  EXPECT_EQ(log.marks[1].step, 1);
  EXPECT_EQ(log.unknown_frees, 3);
  EXPECT_EQ(log.evidence, MemoryEvidence::partial);
  EXPECT_EQ(log.note, sample().note);
}

TEST_F(MemoryLogFile, RefusesInconsistentEvents) {
  MemoryLog log = sample();
  log.blocks[1].born = 0;
  EXPECT_THAT(refusal_of(log), HasSubstr("event 0 occurs twice"));
  log = sample();
  log.blocks[1].born = 2;
  log.blocks[1].freed = 1;
  EXPECT_THAT(refusal_of(log), HasSubstr("event 1 releases what event 2 allocates"));
  log = sample();
  log.blocks[1].freed = 7;
  EXPECT_THAT(refusal_of(log), HasSubstr("event 7 is none of 0 to 2"));
  log = sample();
  log.blocks.pop_back();
  EXPECT_THAT(refusal_of(log), HasSubstr("event 1 belongs to no block"));
  log = sample();
  log.blocks[1].held = 39;
  EXPECT_THAT(refusal_of(log), HasSubstr("a block of 40 bytes in 39"));
  log = sample();
  log.blocks[1].node = 2;
  EXPECT_THAT(refusal_of(log), HasSubstr("node 2 is none of"));
}

TEST_F(MemoryLogFile, RefusesOtherFilesWithTheirName) {
  write_safetensors(file(), {{"weights", HostTensor(DType::f32, {1})}});
  EXPECT_THAT(refusal(), testing::AllOf(HasSubstr("memory.safetensors"), HasSubstr("nodes")));
}

}  // namespace
}  // namespace tbd
