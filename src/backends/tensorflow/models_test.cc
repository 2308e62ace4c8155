// Small forms of whole networks through the session.
#include "backends/tensorflow/test_support.h"
#include "models/model.h"

namespace tbd::tensorflow {
namespace {

Program small(const std::string& model, const std::string& config, Precision precision) {
  return with_precision(find_model(model).config(config).program(), precision);
}

struct Learner {
  std::string model, config;
  double lr;
};

class Network : public testing::TestWithParam<Learner> {};

TEST_P(Network, LearnsAFixedBatch) {
  const auto& [model, config, lr] = GetParam();
  auto session = ready(small(model, config, Precision::kFp32), {.capture = false});
  const double first = session->step(at_step(1, lr)).loss;
  double last = first;
  for (int64_t step = 2; step <= 8; ++step) last = session->step(at_step(step, lr)).loss;
  EXPECT_TRUE(std::isfinite(first));
  EXPECT_LT(last, 0.9 * first);
}
INSTANTIATE_TEST_SUITE_P(All, Network,
                         testing::Values(Learner{"minigo", "tiny", 0.02}, Learner{"deep_speech_2", "tiny", 3e-3},
                                         Learner{"deep_speech_2", "gru_tiny", 3e-3}),
                         [](const auto& info) { return cat(info.param.model, "_", info.param.config); });

}  // namespace
}  // namespace tbd::tensorflow
