// A pass over held-out pictures with a session that answers by what is in its batch.
#include "worker/evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/json.h"
#include "data/detection/testing_coco.h"
#include "graph/builder.h"
#include "graph/passes.h"
#include "worker/inputs.h"

namespace tbd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_coco::coco_annotation;
using testing_coco::coco_image;
using testing_coco::coco_set;
using testing_coco::write_coco;

// Its terms are sums over the batch: of the first pixel of each sample, and of ones.
class Answering final : public Session {
 public:
  SessionIdentity identity() const override { return {}; }
  std::vector<NodeSupport> check(const Program&) const override { return {}; }
  void load(const Program&, const LoadOptions&) override {}
  void write(const TensorMap& values) override {
    for (const auto& [name, tensor] : values) weights[name] = tensor;
  }
  TensorMap read(const std::vector<std::string>& prefixes) override {
    TensorMap out;
    for (const auto& [name, tensor] : weights)
      for (const std::string& prefix : prefixes)
        if (name.starts_with(prefix)) out[name] = tensor;
    return out;
  }
  void stage(const TensorMap&) override {}
  StepReport step(const StepRequest&) override { return {}; }
  std::string first_non_finite() override { return ""; }
  SessionMemory memory() const override { return {}; }
  void reset_peak_memory() override {}
  std::optional<double> gemm_rate(const Precision&, double) override { return {}; }

  TensorMap evaluate(const std::string& phase, const TensorMap& batch) override {
    phases.push_back(phase);
    if (weights.contains("param/w")) seen = as_doubles(weights.at("param/w")).at(0);
    const HostTensor& image = batch.at("image");
    const auto samples = image.shape()[0];
    const std::vector<double> pixels = as_doubles(image);
    double sum = 0;
    for (int64_t n = 0; n < samples; ++n)
      sum += 3 + pixels[static_cast<size_t>(n) * pixels.size() / static_cast<size_t>(samples)];
    TensorMap answers;
    answers["term/cls"] = scalar_tensor(sum, DType::f64);
    answers["term/box"] = scalar_tensor(static_cast<double>(samples), DType::f64);
    return answers;
  }

  std::vector<std::string> phases;
  TensorMap weights;
  double seen = 0;  // w while it answers
};

// Pictures in which nothing is to be found but one object each.
void write_small_set(const std::filesystem::path& root, int64_t count) {
  Json images = Json::array(), objects = Json::array();
  for (int64_t id = 1; id <= count; ++id) {
    images.push_back(coco_image(id, 64, 48));
    objects.push_back(coco_annotation(id, id, 1, {10, 12, 30, 26}));
  }
  write_coco(root, coco_set(images, objects), "val2017");
  write_coco(root, coco_set(images, objects), "train2017");
}

// What a detector of one stage reads, and its terms with their norms.
Program tiny_detector() {
  Program program = {.model = "toy", .config = "detector"};
  Builder g(program, "train");
  const Tensor image = g.input("image", {Builder::batch(), 3, 128, 128});
  for (int64_t level = 3; level <= 7; ++level) {
    const int64_t cells = 128 >> level;
    g.input(cat("cls_t.", level), {Builder::batch(), cells, cells, 9}, DType::i32);
    g.input(cat("box_t.", level), {Builder::batch(), cells, cells, 36});
  }
  g.loss("cls", g.sum(image));
  g.loss("box", g.sum(image), 12.5);
  program.step = {{.phase = "train"}};
  return program;
}
protocol::Load loaded_detector(int64_t batch) {
  return {.program = with_evaluation(tiny_detector()), .bindings = {{"N", batch}}};
}
protocol::Evaluate request_for(const std::filesystem::path& root) {
  protocol::Evaluate request{.phase = "train.evaluation"};
  *request.source = {{"path", root.string()}, {"threads", 1}};
  return request;
}
const auto kNever = [] { return false; };

double loss_with_batches_of(const std::filesystem::path& root, int64_t batch) {
  Answering session;
  const protocol::EvaluateReply reply = evaluate(session, loaded_detector(batch), request_for(root), kNever);
  EXPECT_EQ(reply.samples, 5);
  return reply.metrics.at("loss");
}

// The data count 1 for each batch and 1 for each matched anchor; two losses tell how many of these there are.
TEST(HeldOutEvaluation, CountsEachSampleOnceWhateverTheBatch) {
  const TemporaryFolder root;
  write_small_set(root.path(), 5);
  const double of_five = loss_with_batches_of(root.path(), 1), of_one = loss_with_batches_of(root.path(), 5);
  const double matched = (of_one - 5 * of_five) / (of_five - of_one);
  EXPECT_GT(matched, 1);
  for (const auto& [batch, batches] : {std::pair{2, 3}, {3, 2}, {4, 2}, {8, 1}})
    EXPECT_NEAR(loss_with_batches_of(root.path(), batch) * (matched + batches), of_one * (matched + 1), 1e-9) << batch;
}

TEST(HeldOutEvaluation, StopsAfterTheBatchThatReachesWhatIsAskedFor) {
  const TemporaryFolder root;
  write_small_set(root.path(), 5);
  Answering session;
  protocol::Evaluate request = request_for(root.path());
  request.samples = 3;
  EXPECT_EQ(evaluate(session, loaded_detector(2), request, kNever).samples, 4);
  EXPECT_THAT(session.phases, ElementsAre("train.evaluation", "train.evaluation"));
}

TEST(HeldOutEvaluation, AnswersByAveragesAndLeavesTheWeightsThatAreTrained) {
  const TemporaryFolder root;
  write_small_set(root.path(), 2);
  Answering session;
  session.weights = {{"param/w", scalar_tensor(1, DType::f32)}, {"param/v", scalar_tensor(5, DType::f32)}};
  session.weights["state/w/momentum"] = scalar_tensor(2, DType::f32);
  session.weights["state/w/ema"] = scalar_tensor(3, DType::f32);
  const TensorMap before = session.weights;
  protocol::Evaluate request = request_for(root.path());
  evaluate(session, loaded_detector(2), request, kNever);
  EXPECT_EQ(session.seen, 1);
  request.averaged = true;
  evaluate(session, loaded_detector(2), request, kNever);
  EXPECT_EQ(session.seen, 3);
  for (const auto& [name, tensor] : before) EXPECT_EQ(as_doubles(session.weights.at(name)), as_doubles(tensor)) << name;
}

TEST(HeldOutEvaluation, NeedsADataSetAndAKnownJudge) {
  const TemporaryFolder root;
  write_small_set(root.path(), 2);
  Answering session;
  const auto sentence = [&](const protocol::Evaluate& request) -> std::string {
    try {
      evaluate(session, loaded_detector(2), request, kNever);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(sentence({.phase = "train.evaluation"}), HasSubstr("not made data"));
  protocol::Evaluate unknown = request_for(root.path());
  unknown.judge = "anchor";
  EXPECT_THAT(sentence(unknown), HasSubstr("unknown judge 'anchor', did you mean 'anchors'"));
  protocol::Evaluate elsewhere = request_for(root.path());
  elsewhere.phase = "evaluation";
  EXPECT_THAT(sentence(elsewhere), HasSubstr("evaluation"));
}

TEST(HeldOutEvaluation, EndsWhenItIsStopped) {
  const TemporaryFolder root;
  write_small_set(root.path(), 2);
  Answering session;
  EXPECT_THROW(evaluate(session, loaded_detector(2), request_for(root.path()), [] { return true; }), Error);
}

}  // namespace
}  // namespace tbd
