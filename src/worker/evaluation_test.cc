// A pass over held-out pictures with a session that answers by what is in its batch.
#include "worker/evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/json.h"
#include "data/detection/picture_plan.h"
#include "data/detection/testing_coco.h"
#include "data/png_encoder.h"
#include "graph/builder.h"
#include "graph/passes.h"
#include "host/detection/efficientdet_labels.h"
#include "record/pictures.h"
#include "worker/detection_judge.h"
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
class Answering : public Session {
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

// Makes the real images themselves, and keeps the noise that it was given.
class Forger final : public Answering {
 public:
  TensorMap evaluate(const std::string&, const TensorMap& batch) override {
    noise.push_back(as_doubles(batch.at("z")));
    const HostTensor scores(DType::f32, {batch.at("real").shape()[0], 1});
    return {{"output/fake", batch.at("real")}, {"output/d_real", scores}, {"output/d_fake", scores}};
  }
  std::vector<std::vector<double>> noise;
};

Program forgery(const std::string& phase, bool trains) {
  Program program = {.model = "toy", .config = "generator"};
  Builder g(program, phase);
  const Tensor real = g.input("real", {Builder::batch(), 3, 8, 8});
  const Tensor z = g.input("z", {Builder::batch(), 5});
  if (trains) g.loss("critic", g.add(g.sum(real), g.sum(z)));
  g.output("z", z);
  if (trains) program.step = {{.phase = phase}};
  return program;
}

TEST(HeldOutEvaluation, DrawsNoiseThatIsTheSameEachTime) {
  const TemporaryFolder root;
  make_folder(root.path() / "valid_8x8");
  for (int64_t i = 0; i < 3; ++i)
    write_file(root.path() / "valid_8x8" / cat(i, ".png"),
               encode_png({{8, 8}, std::vector<uint8_t>(192, static_cast<uint8_t>(50 * i))}));
  const protocol::Load loaded = {.program = with_evaluation(forgery("critic", true), forgery("evaluation", false)),
                                 .bindings = {{"N", 2}},
                                 .seed = 5};
  protocol::Evaluate request{.phase = "evaluation", .judge = "images"};
  *request.source = {{"path", root.path().string()}};
  Forger session;
  const protocol::EvaluateReply reply = evaluate(session, loaded, request, kNever);
  EXPECT_EQ(reply.samples, 3);
  EXPECT_EQ(reply.metrics.at("patch_swd"), 0);
  EXPECT_GT(reply.judging_seconds, 0);
  EXPECT_LE(reply.judging_seconds + reply.seconds, reply.wall_seconds);
  EXPECT_EQ(evaluate(session, loaded, request, kNever).metrics, reply.metrics);
  ASSERT_EQ(session.noise.size(), 4U);
  EXPECT_EQ(session.noise[0], session.noise[2]);
  EXPECT_EQ(session.noise[1], session.noise[3]);
  EXPECT_NE(session.noise[0], session.noise[1]);
}

// Answers that are the truth of a set are perfect, whatever became of its pictures on the way to the network.
constexpr ImageSize kPicture = {100, 60};
const std::vector<std::array<double, 4>> kBoxes = {{10, 12, 40, 30}, {40, 5, 50, 45}};  // of pictures 4 and 9

class DetectionJudges : public testing::Test {
 protected:
  DetectionJudges() {
    write_coco(
        root_.path(),
        coco_set({coco_image(4, kPicture.width, kPicture.height), coco_image(9, kPicture.width, kPicture.height)},
                 {coco_annotation(1, 4, 1, kBoxes[0]), coco_annotation(2, 9, 2, kBoxes[1])}),
        "val2017");
  }
  SourceSpec source(const std::string& conventions, DetectionTask task) const {
    SourceSpec spec{.kind = SourceKind::coco, .path = root_.path().string(), .split = Split::val, .batch = 2};
    spec.detection = detection_conventions(conventions);
    spec.detection.task = task;
    spec.detection.height = spec.detection.width = 128;
    spec.detection.slots = 4;
    spec.detection.mask_runs = 0;
    return spec;
  }
  // On the network's canvas.
  static std::array<float, 4> placed(size_t picture, const SourceSpec& spec) {
    return *placed_box(*clipped_box(kBoxes[picture], kPicture), picture_plan(kPicture, spec.detection, std::nullopt));
  }
  static TensorMap positions() {
    const std::vector<int32_t> both = {0, 1};
    return {{"image", HostTensor(DType::f32, {2, 3, 1, 1})},
            {std::string(kPosition), HostTensor(DType::i32, {2}, std::span<const int32_t>(both))}};
  }

  TemporaryFolder root_;
};

// Two places a picture, of which one is used.
TensorMap region_answers(const std::vector<std::array<float, 4>>& boxes) {
  HostTensor rois(DType::f32, {4, 5}), score(DType::f32, {4}), label(DType::i32, {4, 1}), count(DType::i32, {2});
  for (size_t n = 0; n < boxes.size(); ++n) {
    std::ranges::copy(boxes[n], rois.as<float>().begin() + 10 * static_cast<int64_t>(n) + 1);
    score.as<float>()[2 * n] = 0.9F;
    label.as<int32_t>()[2 * n] = static_cast<int32_t>(n) + 1;
    count.as<int32_t>()[n] = 1;
  }
  return {{"detection.rois", rois}, {"detection.score", score}, {"detection.label", label}, {"detection.count", count}};
}

TEST_F(DetectionJudges, OfRegionsFindTheTruthPerfect) {
  const SourceSpec spec = source("torchvision-tiny", DetectionTask::two_stage);
  const auto judge = region_judge(spec);
  judge->add(positions(), region_answers({placed(0, spec), placed(1, spec)}), 2);
  EXPECT_NEAR(judge->metrics().at("box_ap"), 1, 1e-6);
  EXPECT_EQ(judge->metrics().count("mask_ap"), 0U) << "no masks are read";
}

TEST_F(DetectionJudges, OfRegionsSeeAWrongCategoryAndAFillingRow) {
  const SourceSpec spec = source("torchvision-tiny", DetectionTask::two_stage);
  const auto judge = region_judge(spec);
  TensorMap answers = region_answers({placed(0, spec), placed(1, spec)});
  answers.at("detection.label").as<int32_t>()[0] = 2;
  judge->add(positions(), answers, 1);  // the second row fills the batch
  EXPECT_NEAR(judge->metrics().at("box_ap"), 0, 1e-6);
}

// Every anchor that an object takes says its class and code.
TensorMap anchor_answers(const SourceSpec& spec, const std::vector<std::array<float, 4>>& boxes) {
  constexpr int64_t kClasses = 3;
  std::vector<int64_t> extents;
  TensorMap answers;
  for (int64_t level = 3; level <= 7; ++level) {
    const int64_t cells = 128 >> level;
    extents.push_back(cells);
    answers[cat("cls.", level)] = HostTensor(DType::f32, {2, 9 * kClasses, cells, cells});
    answers[cat("box.", level)] = HostTensor(DType::f32, {2, 36, cells, cells});
    std::ranges::fill(answers[cat("cls.", level)].as<float>(), -20.F);
  }
  const auto anchors =
      detection::efficientdet_anchors({.image = 128, .extents = extents, .scale = spec.detection.anchor_scale});
  for (size_t n = 0; n < boxes.size(); ++n) {
    const auto& [x1, y1, x2, y2] = boxes[n];
    const std::vector<detection::YxBox> box = {{y1, x1, y2, x2}};
    const std::vector<int32_t> classes = {static_cast<int32_t>(n)};
    const auto labels = detection::efficientdet_labels(anchors, box, classes, kClasses);
    size_t row = 0;
    for (size_t l = 0; l < extents.size(); ++l) {
      const auto cells = static_cast<size_t>(extents[l] * extents[l]);
      const std::span<float> cls = answers[cat("cls.", l + 3)].as<float>(),
                             code = answers[cat("box.", l + 3)].as<float>();
      for (size_t cell = 0; cell < cells; ++cell)
        for (size_t anchor = 0; anchor < 9; ++anchor, ++row) {
          if (labels.class_target[row] < 0) continue;
          const size_t of_class = anchor * kClasses + static_cast<size_t>(labels.class_target[row]);
          cls[(n * 9 * kClasses + of_class) * cells + cell] = 5;
          for (size_t i = 0; i < 4; ++i)
            code[(n * 36 + 4 * anchor + i) * cells + cell] = static_cast<float>(labels.box_target[row][i]);
        }
    }
  }
  return answers;
}

TEST_F(DetectionJudges, OfAnchorsFindTheTruthPerfect) {
  const SourceSpec spec = source("effdet", DetectionTask::one_stage);
  const auto judge = anchor_judge(spec);
  judge->add(positions(), anchor_answers(spec, {placed(0, spec), placed(1, spec)}), 2);
  EXPECT_NEAR(judge->metrics().at("box_ap"), 1, 1e-6);
}

TEST_F(DetectionJudges, DrawWhatWasFoundInTheFirstPictures) {
  const SourceSpec spec = source("torchvision-tiny", DetectionTask::two_stage);
  const auto judge = region_judge(spec);
  judge->add(positions(), region_answers({placed(0, spec), placed(1, spec)}), 2);
  const std::vector<Picture> pictures = judge->pictures(1);
  ASSERT_EQ(pictures.size(), 1U);
  EXPECT_EQ(pictures[0].file, "detections-4.png");
  EXPECT_THAT(pictures[0].caption, testing::HasSubstr("1 found"));
}

TEST_F(DetectionJudges, NeedAnnotations) {
  SourceSpec made = source("effdet", DetectionTask::one_stage);
  made.kind = SourceKind::synthetic;
  EXPECT_THROW(anchor_judge(made), Error);
}

}  // namespace
}  // namespace tbd
