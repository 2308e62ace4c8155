#include "trace/import/step_stats_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace tbd {
namespace {

using testing::ElementsAre;

TEST(StepStatsLabel, SaysTypeAndOperands) {
  const std::string_view label = "[mklcpu 12.3MB 12.3MB] train/bn = FusedBatchNormV3(train/conv, w:1, ^after)";
  EXPECT_EQ(op_type(label), "FusedBatchNormV3");
  EXPECT_THAT(op_inputs(label), ElementsAre("train/conv", "w:1"));
}

TEST(StepStatsLabel, AcceptsMalformedLabels) {
  for (const std::string_view label : {"", "a", "a = b", "a = NoOp()", "a = (", ")"}) {
    EXPECT_TRUE(op_inputs(label).empty()) << label;
    EXPECT_EQ(op_type(label), label == "a = NoOp()" ? "NoOp" : "") << label;
  }
}

// A float (2, 3) of 24 bytes, the op's second allocation, in slot 1.
TEST(StepStatsNode, HasOutputsAndTheAllocatorsCount) {
  const std::string description("\x08\x18\x20\x02\x30\x07", 6), extents("\x12\x02\x08\x02\x12\x02\x08\x03", 8);
  const std::string tensor = cat("\x08\x01\x12\x08", extents, "\x22\x06", description);
  const std::string output = cat("\x08\x01\x1a", static_cast<char>(tensor.size()), tensor);
  const std::string message = std::string("\x32\x02\x28\x63\x3a", 5) + static_cast<char>(output.size()) + output;
  const StepStatsNode node = step_stats_node(message);
  ASSERT_EQ(node.in_use.size(), 1u);
  EXPECT_EQ(node.in_use[0].bytes, 99);
  ASSERT_EQ(node.outputs.size(), 1u);
  const StepStatsOutput& read = node.outputs.front();
  EXPECT_EQ(read.slot, 1);
  EXPECT_EQ(read.type, 1);
  EXPECT_THAT(read.shape, ElementsAre(2, 3));
  EXPECT_EQ(read.requested, 24);
  EXPECT_EQ(read.allocation, 2);
  EXPECT_EQ(read.pointer, 7u);
}

}  // namespace
}  // namespace tbd
