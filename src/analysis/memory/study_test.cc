#include "analysis/memory/study.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/error.h"

namespace tbd {
namespace {

using testing::ElementsAre;
using enum MemoryClass;

int64_t bytes_of_class(const MemoryBytes& bytes, MemoryClass kind) { return bytes[static_cast<size_t>(kind)]; }

// Two steps. Weights of 100 from event 0 on; in each step a feature map of 40 by node 0, scratch of 70 by node 1 in
// forward, a gradient of 60 by node 0 in backward; the second step leaves 5 behind.
MemoryLog two_steps() {
  MemoryLog log{.nodes = {"conv", "norm"}};
  const auto block = [&](int64_t bytes, uint32_t born, uint32_t freed, int32_t node, MemoryClass kind,
                         MemoryPhase phase) {
    log.blocks.push_back({bytes, bytes + 4, born, freed, node, kind, phase});
  };
  block(100, 0, kNeverFreed, -1, weight, MemoryPhase::setup);
  for (const uint32_t at : {1u, 7u}) {
    block(40, at, at + 4, 0, feature_map, MemoryPhase::forward);
    block(70, at + 1, at + 2, 1, workspace, MemoryPhase::forward);
    block(60, at + 3, at + 5, 0, activation_grad, MemoryPhase::backward);
    const int64_t step = at == 1 ? 1 : 2;
    log.marks.push_back({at, 10 * at, step, MemoryPhase::forward});
    log.marks.push_back({at + 3, 10 * (at + 3), step, MemoryPhase::backward});
  }
  block(5, 13, kNeverFreed, 1, temporary, MemoryPhase::backward);
  for (int64_t e = 0; e < 14; ++e) log.event_ns.push_back(10 * e);
  return log;
}

TEST(MemoryStudy, FindsTheFirstInstantOfThePeakWithItsParts) {
  const MemoryStudy study = study_memory(two_steps());
  EXPECT_EQ(study.peak.event, 2u);
  EXPECT_EQ(study.peak.time_ns, 20);
  EXPECT_EQ(study.peak.step, 1);
  EXPECT_EQ(study.peak.phase, MemoryPhase::forward);
  EXPECT_EQ(sum(study.peak.requested), 210);
  EXPECT_EQ(bytes_of_class(study.peak.requested, workspace), 70);
  EXPECT_EQ(bytes_of_class(study.peak.requested, activation_grad), 0) << "not at that instant";
  EXPECT_EQ(bytes_of_class(study.class_peaks, activation_grad), 60);
  EXPECT_EQ(study.peak.held, 210 + 3 * 4);
}

TEST(MemoryStudy, GivesThePeakToNodesAndBlocks) {
  const MemoryStudy study = study_memory(two_steps());
  ASSERT_EQ(study.by_node.size(), 3u);
  EXPECT_EQ(study.by_node[0].node, -1);
  EXPECT_EQ(study.by_node[1].node, 1);
  EXPECT_EQ(bytes_of_class(study.by_node[2].requested, feature_map), 40);
  EXPECT_THAT(study.largest, ElementsAre(0u, 2u, 1u));
}

TEST(MemoryStudy, DetectsMemoryLeakedBetweenSteps) {
  const MemoryStudy study = study_memory(two_steps());
  ASSERT_EQ(study.after_steps.size(), 2u);
  EXPECT_EQ(sum(study.after_steps[0].requested), 100);
  EXPECT_EQ(study.growth_since(1), 5);
  EXPECT_EQ(study.growth_since(2), std::nullopt);
  EXPECT_EQ(study.growth_since(9), std::nullopt);
}

TEST(MemoryStudy, DownsampledStepChartKeepsItsMaximum) {
  const MemoryLog log = two_steps();
  for (const size_t points : {1u, 2u, 3u, 100u}) {
    const std::vector<MemorySnapshot> chart = memory_over_step(log, 2, points);
    ASSERT_FALSE(chart.empty());
    EXPECT_LE(chart.size(), points);
    EXPECT_EQ(sum(std::ranges::max(chart, {}, [](const auto& s) { return sum(s.requested); }).requested), 210);
    for (const MemorySnapshot& part : chart) EXPECT_EQ(part.step, 2);
  }
  EXPECT_TRUE(memory_over_step(log, 3, 10).empty());
}

TEST(MemoryStudy, RejectsALogWithoutEvents) { EXPECT_THROW(study_memory({}), Error); }

}  // namespace
}  // namespace tbd
