// One step of Mask R-CNN as torchvision takes it in double: weights of seed 0, inputs by formula, and what torchvision
// 0.29.2 gave for them (golden/mask_rcnn.json; docs/equivalence.md says with which patches).
#include "backend_suite/reference_sums.h"
#include "backend_suite/support.h"
#include "base/files.h"
#include "base/json.h"
#include "graph/passes.h"
#include "host/detection/inference.h"
#include "host/detection/rpn_targets.h"
#include "host/detection/sampler.h"
#include "models/model.h"

namespace tbd {
namespace {

const Json& golden() {
  static const std::string path = TBD_SOURCE_DIR "/tests/backend_suite/golden/mask_rcnn.json";
  static const Json all = parse_json(read_file(path), path);
  return all;
}

// ((3 x^2 + 5 y^2 + 7 x y + 41 c + 59 n) mod 256) / 128 - 1 within the picture, 0 beyond it.
double pixel(int64_t n, int64_t c, int64_t y, int64_t x) {
  return static_cast<double>((3 * x * x + 5 * y * y + 7 * x * y + 41 * c + 59 * n) % 256) / 128 - 1;
}

// An ellipse in the box, column by column.
std::vector<double> ellipse_runs(const detection::Box& box, const detection::Extent& image) {
  const auto x1 = static_cast<int64_t>(std::floor(box.x1)), x2 = static_cast<int64_t>(std::ceil(box.x2));
  const auto y1 = static_cast<int64_t>(std::floor(box.y1)), y2 = static_cast<int64_t>(std::ceil(box.y2));
  const int64_t w = (x2 - x1) * (x2 - x1), h = (y2 - y1) * (y2 - y1);
  std::vector<double> runs = {0};
  bool inside = false;
  for (int64_t x = 0; x < image.width; ++x)
    for (int64_t y = 0; y < image.height; ++y) {
      const int64_t dx = 2 * x + 1 - x1 - x2, dy = 2 * y + 1 - y1 - y2;
      if ((dx * dx * h + dy * dy * w <= w * h) != inside) {
        inside = !inside;
        runs.push_back(0);
      }
      ++runs.back();
    }
  return runs;
}

// Tensors of a batch, filled sample by sample; what is not written stays 0.
class Batch {
 public:
  Batch(const Program& program, int64_t samples) : needs_(input_needs(program, {{"N", samples}})) {
    for (const auto& need : needs_.inputs) tensors_.emplace(need.name, HostTensor(DType::f64, need.shape));
    tensors_.insert(needs_.norms.begin(), needs_.norms.end());
  }

  bool has(const std::string& name) const { return tensors_.contains(name); }
  std::span<double> sample(const std::string& name, size_t n) {
    HostTensor& tensor = tensors_.at(name);
    const auto each = static_cast<size_t>(tensor.shape().elements() / tensor.shape()[0]);
    return tensor.as<double>().subspan(n * each, each);
  }
  TensorMap finished() const {
    TensorMap out = tensors_;
    for (const auto& need : needs_.inputs) out[need.name] = converted(out[need.name], need.dtype);
    return out;
  }

 private:
  InputNeeds needs_;
  TensorMap tensors_;
};

detection::Pyramid pyramid_of(const Program& program) {
  const auto node = std::ranges::find(program.phases[0].nodes, "select_proposals", &Node::name);
  const HostNumbers& numbers = std::get<HostCall>(node->op).numbers;
  std::vector<detection::Extent> extents;
  for (size_t i = 0; i < numbers.at("extents").size(); i += 2)
    extents.push_back(
        {static_cast<int64_t>(numbers.at("extents")[i]), static_cast<int64_t>(numbers.at("extents")[i + 1])});
  const Shape image = bind(program, program.phases[0], {{"N", 1}}).values.front().shape;
  return detection::pyramid({image[2], image[3]}, extents, numbers.at("sizes"), numbers.at("ratios"));
}

struct Case {
  std::string name;
  const Json& json;
  Program program;
  detection::Pyramid pyramid;
  int64_t batch() const { return std::ssize(json.at("boxes")); }
};

Case case_of(const std::string& name) {
  const Json& json = golden().at(name);
  const Program plain = find_model("mask_rcnn").config(json.at("config").get<std::string>()).program();
  return {name, json, with_precision(plain, Precision::kFp64), pyramid_of(plain)};
}

class CaseInputs {
 public:
  explicit CaseInputs(const Case& c) : case_(c), batch_(c.program, c.batch()) {
    for (size_t n = 0; n < static_cast<size_t>(c.batch()); ++n) write(n);
    weigh_anchors();
  }
  TensorMap finished() const { return batch_.finished(); }

 private:
  void write(size_t n) {
    const Json& size = case_.json.at("image_sizes")[n];
    const detection::Extent image = {size[0].get<int64_t>(), size[1].get<int64_t>()};
    batch_.sample("image_size", n)[0] = static_cast<double>(image.height);
    batch_.sample("image_size", n)[1] = static_cast<double>(image.width);
    write_image(n, image);
    const std::vector<detection::Box> boxes = write_boxes(n);
    if (batch_.has("mask_runs")) write_masks(n, boxes, image);
    write_keys("roi_key", n);
    write_anchors(n, boxes);
  }

  void write_image(size_t n, const detection::Extent& image) {
    const int64_t height = case_.json.at("height"), width = case_.json.at("width");
    const std::span<double> pixels = batch_.sample("image", n);
    for (int64_t c = 0; c < 3; ++c)
      for (int64_t y = 0; y < image.height; ++y)
        for (int64_t x = 0; x < image.width; ++x)
          pixels[static_cast<size_t>((c * height + y) * width + x)] = pixel(static_cast<int64_t>(n), c, y, x);
  }

  std::vector<detection::Box> write_boxes(size_t n) {
    std::vector<detection::Box> boxes;
    for (const Json& row : case_.json.at("boxes")[n]) {
      for (size_t i = 0; i < 4; ++i) batch_.sample("gt_box", n)[4 * boxes.size() + i] = row[i];
      batch_.sample("gt_label", n)[boxes.size()] = row[4];
      boxes.push_back({row[0], row[1], row[2], row[3]});
    }
    return boxes;
  }

  void write_masks(size_t n, const std::vector<detection::Box>& boxes, const detection::Extent& image) {
    const std::span<double> starts = batch_.sample("mask_start", n), runs = batch_.sample("mask_runs", n);
    size_t used = 0;
    for (size_t g = 0; g + 1 < starts.size(); ++g) {
      starts[g] = static_cast<double>(used);
      if (g >= boxes.size()) continue;
      for (const double run : ellipse_runs(boxes[g], image)) runs[used++] = run;
    }
    starts.back() = static_cast<double>(used);
  }

  static std::vector<int32_t> keys(const std::string& name, size_t n, int64_t count) {
    return detection::sampling_keys(Philox(0, "data/" + name).at(1, static_cast<uint32_t>(n)), count);
  }
  void write_keys(const std::string& name, size_t n) {
    const std::span<double> out = batch_.sample(name, n);
    std::ranges::copy(keys(name, n, std::ssize(out)), out.begin());
  }

  void write_anchors(size_t n, const std::vector<detection::Box>& boxes) {
    const std::span<double> index = batch_.sample("rpn_index", n), box = batch_.sample("rpn_box_target", n);
    const detection::RpnSettings settings = {
        .pyramid = case_.pyramid, .sampled = std::ssize(index), .most_positive = std::ssize(index) / 2};
    const auto targets =
        detection::rpn_targets(settings, boxes, keys("rpn_key", n, detection::anchor_count(case_.pyramid)));
    double index_sum = 0, box_sum = 0;
    for (size_t i = 0; i < targets.index.size(); ++i) {
      index[i] = targets.index[i];
      index_sum += index[i];
    }
    for (size_t i = 0; i < 4 * targets.box_target.size(); ++i) {
      box[i] = targets.box_target[i / 4][i % 4];
      box_sum += box[i];
    }
    std::fill_n(batch_.sample("rpn_label", n).begin(), targets.positives, 1);
    std::fill_n(batch_.sample("rpn_weight", n).begin(), targets.index.size(), 1);
    std::fill_n(batch_.sample("rpn_box_weight", n).begin(), targets.positives, 1);
    const Json& expected = case_.json.at("targets")[n];
    EXPECT_EQ(targets.positives, expected.at("positive"));
    EXPECT_EQ(index_sum, expected.at("index_sum"));
    EXPECT_NEAR(box_sum, expected.at("box_target_sum").get<double>(), 1e-9);
  }

  // samples / sampled anchors.
  void weigh_anchors() {
    const auto samples = static_cast<size_t>(case_.batch());
    double sampled = 0;
    for (size_t n = 0; n < samples; ++n)
      for (const double weight : batch_.sample("rpn_weight", n)) sampled += weight;
    for (const char* name : {"rpn_weight", "rpn_box_weight"})
      for (size_t n = 0; n < samples; ++n)
        for (double& weight : batch_.sample(name, n)) weight *= static_cast<double>(samples) / sampled;
  }

  const Case& case_;
  Batch batch_;
};

// Drawn in double and rounded to single precision.
TensorMap rounded_weights(const Program& program) {
  TensorMap out;
  const auto add = [&](const std::string& prefix, Parameter parameter) {
    parameter.dtype = DType::f32;
    out[prefix + parameter.name] = converted(initial_value(parameter, /*seed=*/0, /*threads=*/1), DType::f64);
  };
  for (const Parameter& parameter : program.parameters) add("param/", parameter);
  for (const Parameter& buffer : program.buffers) add("buffer/", buffer);
  return out;
}

void expect_step_of_reference(const std::string& name) {
  const Case c = case_of(name);
  if (const std::string why = why_not(c.program); !why.empty()) GTEST_SKIP() << why;
  auto session = make_session();
  session->load(c.program, load_options({.batch = c.batch()}));
  session->write(rounded_weights(c.program));
  session->stage(CaseInputs(c).finished());
  session->step(at_step(1));
  const TensorMap after = session->read({"term/", "grad/", "output/"});
  for (const auto& [term, value] : c.json.at("terms").items())
    expect_near(as_doubles(after.at("term/" + term)).front(), value, kTermBound, term);
  for (const auto& [output, sum] : c.json.at("outputs").items())
    expect_near(magnitudes(after.at("output/" + output)), sum, kTermBound, output);
  double all = 0;
  for (const auto& [gradient, tensor] : after)
    if (gradient.starts_with("grad/")) all = std::hypot(all, norm_of(tensor));
  expect_near(all, c.json.at("gradient_norm"), kGradientBound, "all gradients");
  for (const auto& [parameter, norm] : c.json.at("gradients").items())
    expect_near(norm_of(after.at("grad/" + parameter)), norm, kGradientBound, parameter);
}

TEST(MaskRcnn, TakesTheStepOfItsReference) { expect_step_of_reference("tiny"); }
TEST(MaskRcnn, TakesTheStepOfItsReferenceWithAnEmptyPicture) { expect_step_of_reference("tiny_one_empty"); }

struct Stepped {
  TensorMap after;
  int64_t rows = 0;
};
Stepped stepped(const Case& c, const TensorMap& inputs, bool capture) {
  auto session = make_session();
  session->load(c.program, load_options({.batch = c.batch(), .capture = capture}));
  session->write(rounded_weights(c.program));
  session->stage(inputs);
  const StepReport report = session->step(at_step(1, 1.0));
  Stepped out = {session->read({"param/"}), report.rows.value()};
  out.after["loss"] = scalar_tensor(report.loss, DType::f64);
  return out;
}

// Where nothing is captured, a back-end may leave out the rows of the mask head that are not used, of 16 in all.
void expect_alike_without_unused_rows(const Case& c, const TensorMap& inputs, int64_t rows) {
  const Stepped all = stepped(c, inputs, true), used = stepped(c, inputs, false);
  EXPECT_EQ(all.rows, rows);
  EXPECT_EQ(used.rows, rows);
  for (const auto& [name, tensor] : all.after) EXPECT_LT(relative_error(used.after.at(name), tensor), 1e-12) << name;
}

TEST(MaskRcnn, StepsAlikeWithoutItsUnusedRows) {
  const Case c = case_of("tiny");
  if (const std::string why = why_not(c.program); !why.empty()) GTEST_SKIP() << why;
  expect_alike_without_unused_rows(c, CaseInputs(c).finished(), 13);
}

// Pictures without objects leave one row, of weight 0.
TEST(MaskRcnn, StepsAlikeWithoutAnyUsedRow) {
  const Case c = case_of("tiny");
  if (const std::string why = why_not(c.program); !why.empty()) GTEST_SKIP() << why;
  TensorMap inputs = CaseInputs(c).finished();
  for (const char* name : {"gt_label", "gt_box", "mask_runs", "mask_start"})
    std::ranges::fill(inputs.at(name).bytes(), std::byte{0});
  expect_alike_without_unused_rows(c, inputs, 1);
}

double part_sum(const TensorMap& answers, const std::string& name, int64_t image, int64_t images, int64_t from = 0) {
  const std::vector<double> all = as_doubles(answers.at("output/detection." + name));
  const auto each = std::ssize(all) / images;
  double sum = 0;
  for (int64_t i = 0; i < each; ++i)
    if (i % (name == "rois" ? 5 : 1) >= from) sum += all[static_cast<size_t>(image * each + i)];
  return sum;
}

double probability_sum(const TensorMap& answers, int64_t image, int64_t images) {
  const std::vector<double> all = as_doubles(answers.at("output/detection.mask"));
  const auto each = all.size() / static_cast<size_t>(images);
  double sum = 0;
  for (size_t i = 0; i < each; ++i) sum += 1 / (1 + std::exp(-all[static_cast<size_t>(image) * each + i]));
  return sum;
}

// Masks at their boxes: pixels that are set.
int64_t pasted_pixels(const TensorMap& answers, int64_t image, int64_t images, const detection::Extent& size) {
  const std::vector<double> rois = as_doubles(answers.at("output/detection.rois"));
  const std::vector<double> maps = as_doubles(answers.at("output/detection.mask"));
  const int64_t rows = std::ssize(rois) / 5 / images;
  int64_t pixels = 0;
  for (int64_t row = image * rows; row < (image + 1) * rows; ++row) {
    const double* roi = rois.data() + 5 * row;
    const std::span<const double> map(maps.data() + 784 * row, 784);
    const auto runs = detection::paste_mask(map, 28, {roi[1], roi[2], roi[3], roi[4]}, size);
    for (size_t i = 1; i < runs.size(); i += 2) pixels += runs[i];
  }
  return pixels;
}

TEST(MaskRcnn, AnswersAsItsReferenceWhenItIsEvaluated) {
  const Case c = case_of("tiny");
  if (const std::string why = why_not(c.program); !why.empty()) GTEST_SKIP() << why;
  const Program own = with_precision(find_model("mask_rcnn").config("tiny").evaluation(), Precision::kFp64);
  auto session = make_session();
  session->load(with_evaluation(c.program, own), load_options({.batch = c.batch(), .capture = false}));
  session->write(rounded_weights(c.program));
  const TensorMap batch = CaseInputs(c).finished();
  const TensorMap answers =
      session->evaluate("evaluation", {{"image", batch.at("image")}, {"image_size", batch.at("image_size")}});
  for (int64_t n = 0; n < c.batch(); ++n) {
    const Json& expected = c.json.at("evaluation")[static_cast<size_t>(n)];
    const Json& size = c.json.at("image_sizes")[static_cast<size_t>(n)];
    EXPECT_EQ(part_sum(answers, "count", n, c.batch()), expected.at("count"));
    const Json& labels = expected.at("labels");
    EXPECT_EQ(part_sum(answers, "label", n, c.batch()), labels[1].get<double>() + 2 * labels[2].get<double>());
    expect_near(part_sum(answers, "rois", n, c.batch(), 1), expected.at("box_sum"), 1e-11, "boxes");
    expect_near(part_sum(answers, "score", n, c.batch()), expected.at("score_sum"), 1e-11, "scores");
    expect_near(probability_sum(answers, n, c.batch()), expected.at("mask_probability_sum"), 1e-11, "masks");
    EXPECT_EQ(pasted_pixels(answers, n, c.batch(), {size[0], size[1]}), expected.at("pasted_pixels"));
  }
}

TEST(FasterRcnn, TakesTheStepOfItsReference) { expect_step_of_reference("faster_tiny"); }

// The whole network at 512 x 512 takes minutes and 3 GB: --gtest_also_run_disabled_tests.
TEST(MaskRcnn, DISABLED_TakesTheCanonicalStepOfItsReference) { expect_step_of_reference("canonical_512"); }

}  // namespace
}  // namespace tbd
