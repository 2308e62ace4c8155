// The smallest configurations of the networks whose ops MXNet has in another form in double.
#include <gtest/gtest.h>

#include "backends/mxnet/test_support.h"
#include "models/model.h"

namespace tbd::mxnet {
namespace {

struct Tiny {
  const char *model, *config;
};

class TinyOnMxnet : public testing::TestWithParam<Tiny> {};

// Three steps in both precisions.
TEST_P(TinyOnMxnet, StepsAndAgreesWithItselfInDouble) {
  const Program program = find_model(GetParam().model).config(GetParam().config).program();
  const auto after_steps = [&](Precision precision) {
    const Program lowered = with_precision(program, precision);
    auto session = loaded(lowered);
    session->stage(random_batch(lowered, {{"N", 4}}));
    for (int64_t step = 1; step <= 3; ++step) session->step(at_step(step, 1e-4));
    EXPECT_EQ(session->first_non_finite(), "");
    return session->read({"buffer/", "output/", "term/", "loss"});
  };
  const TensorMap single = after_steps(Precision::kFp32), twice = after_steps(Precision::kFp64);
  ASSERT_EQ(single.size(), twice.size());
  for (const auto& [name, tensor] : twice) EXPECT_LT(relative_error(single.at(name), tensor), 1e-3) << name;
}
INSTANTIATE_TEST_SUITE_P(All, TinyOnMxnet,
                         testing::Values(Tiny{"minigo", "tiny"}, Tiny{"wgan_gp", "tiny"}, Tiny{"deep_speech_2", "tiny"},
                                         Tiny{"deep_speech_2", "gru_tiny"}),
                         [](const auto& info) { return cat(info.param.model, "_", info.param.config); });

}  // namespace
}  // namespace tbd::mxnet
