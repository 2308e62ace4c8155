#include "backend_suite/op_gradients.h"

namespace tbd::mlx {
namespace {

class OpOnMlx : public testing::TestWithParam<std::string> {};

TEST_P(OpOnMlx, HasTheGradientOfCentralDifferences) { expect_central_differences(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, OpOnMlx, testing::ValuesIn(differentiable_kinds()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tbd::mlx
