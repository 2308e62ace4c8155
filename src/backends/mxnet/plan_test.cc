#include "backends/mxnet/plan.h"

#include <gtest/gtest.h>

namespace tbd::mxnet {
namespace {

// y is read twice, so its gradient is a sum; "loss/out0" hands the loss out.
constexpr std::string_view kPrint = R"(Symbol Outputs:
	output[0]=loss/out0(0)
Variable:x
--------------------
Op:Convolution, Name=conv
Inputs:
	arg[0]=x(0) version=0
Attrs:
	kernel=(3,3)
--------------------
Op:Activation, Name=conv_1
Inputs:
	arg[0]=conv(0)
--------------------
Op:elemwise_mul, Name=loss/out0
Inputs:
	arg[0]=conv(0)
	arg[1]=conv_1(0)
Variable:_head_grad_0
--------------------
Op:_backward_mul, Name=loss/out0_backward
Inputs:
	arg[0]=_head_grad_0(0) version=0
	arg[1]=conv_1(0)
--------------------
Op:add_n, Name=sum_grad
Inputs:
	arg[0]=loss/out0_backward(0)
	arg[1]=loss/out0_backward(1)
--------------------
Op:_backward_Convolution, Name=conv_backward
Inputs:
	arg[0]=sum_grad(0)
	arg[1]=x(0) version=0
--------------------
Op:add_n, Name=sum_grad
Inputs:
	arg[0]=conv_backward(1)
Total 3 MB allocated
Total 11 TempSpace resource requested
)";

TEST(MxnetPlan, ListsOpsWithTheirInputs) {
  const std::vector<PlannedOp> ops = read_plan(kPrint);
  ASSERT_EQ(ops.size(), 7u);
  EXPECT_EQ(ops[1].op, "Activation");
  EXPECT_EQ(ops[1].name, "conv_1");
  EXPECT_EQ(ops[2].reads, (std::vector<size_t>{0, 1}));
  EXPECT_EQ(ops[5].reads, (std::vector<size_t>{4}));
}

TEST(MxnetPlan, AssignsOpsToNodesByName) {
  const std::vector<PlannedOp> ops = read_plan(kPrint);
  // The first sum goes to the convolution that reads it, the last to the one that it reads.
  EXPECT_EQ(nodes_of(ops, {{"conv", 0}, {"conv_1", 1}, {"loss", 2}}), (std::vector<int32_t>{0, 1, 2, 2, 0, 0, 0}));
}

TEST(MxnetPlan, ReportsPlannedBytes) {
  EXPECT_EQ(planned_bytes(kPrint), 3 << 20);
  EXPECT_EQ(planned_bytes("no sum"), 0);
}

TEST(MxnetPlan, OpWithoutANodeIsUnassigned) {
  EXPECT_EQ(nodes_of(read_plan("Op:_zeros, Name=zero\n"), {{"conv", 0}}), (std::vector<int32_t>{-1}));
}

TEST(MxnetPlan, MatchesResultsToPlannedOps) {
  const std::vector<PlannedOp> ops = read_plan(kPrint);
  PlanReader reader(ops);
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(reader.next("conv_output"), 0);
    EXPECT_EQ(reader.next("conv_1_output"), 1);
    EXPECT_EQ(reader.next("loss/out0_output"), 2);
    EXPECT_EQ(reader.next("loss/out0_backward_output0"), 3);
    EXPECT_EQ(reader.next("loss/out0_backward_output1"), PlanReader::kSameOp);
    EXPECT_EQ(reader.next("sum_grad_output"), 4);
    EXPECT_EQ(reader.next("conv_backward_output0"), 5);
    EXPECT_EQ(reader.next("conv_backward_output1"), PlanReader::kSameOp);
    EXPECT_EQ(reader.next("sum_grad_output"), 6);
  }
  EXPECT_EQ(reader.next("other_output"), PlanReader::kUnknown);
}

// The gradient of add_n copies to each summand, in ops without a name.
TEST(PlanReader, FollowsOpsWithoutAName) {
  PlanReader reader({{"_backward_Convolution", "box_backward", {}}, {"_copy", "", {}}, {"_copy", "", {}}});
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(reader.next("box_backward_output0"), 0);
    EXPECT_EQ(reader.next("box_backward_output1"), PlanReader::kSameOp);
    EXPECT_EQ(reader.next("output"), 1);
    EXPECT_EQ(reader.next("output"), 2);
  }
  EXPECT_EQ(reader.next("other_output"), PlanReader::kUnknown);
}

}  // namespace
}  // namespace tbd::mxnet
