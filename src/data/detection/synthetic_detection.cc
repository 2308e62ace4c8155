#include "data/detection/synthetic_detection.h"

#include <algorithm>
#include <cmath>

#include "data/detection/encoder.h"
#include "data/synthetic.h"
#include "data/text/draws.h"

namespace tbd {
namespace {

constexpr int64_t kMostBoxes = 12;

// Of an odd sample an eighth of either extent is padding.
ImageSize shown_size(const DetectionSpec& spec, int64_t slot) {
  if (slot % 2 == 0) return {.width = spec.width, .height = spec.height};
  return {.width = spec.width - spec.width / 8, .height = spec.height - spec.height / 8};
}

double log_uniform(double low, double high, double u) { return low * std::pow(high / low, u); }

std::array<float, 4> drawn_box(const DetectionSpec& spec, ImageSize size, Draws& draws) {
  const auto width = static_cast<double>(size.width), height = static_cast<double>(size.height);
  const double most = 0.8 * std::min(width, height);
  const double least = std::min(most, std::max(8.0, static_cast<double>(spec.height) / 32));
  const double longer = log_uniform(least, most, draws.uniform());
  const double aspect = log_uniform(0.5, 2, draws.uniform());
  const double half_width = (aspect > 1 ? longer / aspect : longer) / 2;
  const double half_height = (aspect > 1 ? longer : longer * aspect) / 2;
  const double x = draws.uniform() * width, y = draws.uniform() * height;
  const auto within = [](double value, double most) { return static_cast<float>(std::clamp(value, 0.0, most)); };
  return {within(x - half_width, width), within(y - half_height, height), within(x + half_width, width),
          within(y + half_height, height)};
}

void clear_padding(std::span<float> image, const DetectionSpec& spec, ImageSize size) {
  const auto height = static_cast<size_t>(spec.height), width = static_cast<size_t>(spec.width);
  for (size_t row = 0; row < 3 * height; ++row) {
    const size_t used = row % height < static_cast<size_t>(size.height) ? static_cast<size_t>(size.width) : 0;
    std::ranges::fill(image.subspan(row * width + used, width - used), 0.f);
  }
}

// Pixels outside the mask, then inside it.
void add_run(std::vector<int32_t>& runs, int64_t outside, int64_t inside) {
  if (outside == 0 && !runs.empty()) {
    runs.back() += static_cast<int32_t>(inside);
    return;
  }
  runs.push_back(static_cast<int32_t>(outside));
  runs.push_back(static_cast<int32_t>(inside));
}

class SyntheticDetection final : public Samples {
 public:
  explicit SyntheticDetection(const SourceSpec& spec) : spec_(spec), encoder_(detection_encoder(spec)) {}
  std::unique_ptr<SampleMaker> maker() const override;
  BatchLayout layout(int64_t) const override { return encoder_->layout(spec_.batch); }
  void add_counts(TensorMap& batch) const override { encoder_->finish(batch); }
  std::optional<int64_t> size() const override { return std::nullopt; }
  std::optional<int64_t> steps_per_epoch() const override { return std::nullopt; }

 private:
  SourceSpec spec_;
  std::unique_ptr<DetectionEncoder> encoder_;

  class Maker;
};

class SyntheticDetection::Maker final : public SampleMaker {
 public:
  explicit Maker(const SyntheticDetection& samples) : samples_(samples), noise_(samples.spec_.seed) {}

  void make(int64_t step, int64_t slot, const Row& row) override {
    const SourceSpec& spec = samples_.spec_;
    const DetectionEncoder& encoder = *samples_.encoder_;
    DetectionSample sample = synthetic_objects(spec, step, slot, encoder.reads_masks());
    remove_objects(sample, encoder.without_place(sample));
    encoder.write(sample, step, slot, row);
    noise_.fill(step, slot, row.floats("image"));
    clear_padding(row.floats("image"), spec.detection, sample.size);
  }

 private:
  const SyntheticDetection& samples_;
  ImageNoise noise_;
};

std::unique_ptr<SampleMaker> SyntheticDetection::maker() const { return std::make_unique<Maker>(*this); }

}  // namespace

DetectionSample synthetic_objects(const SourceSpec& spec, int64_t step, int64_t slot, bool with_masks) {
  const DetectionSpec& detection = spec.detection;
  Draws draws(Philox(spec.seed, "data/synthetic_box", static_cast<uint32_t>(step), static_cast<uint32_t>(slot)));
  DetectionSample sample{.size = shown_size(detection, slot), .boxes = {}, .labels = {}, .masks = {}};
  const int64_t count = 1 + draws.below(std::min(detection.objects, kMostBoxes));
  for (int64_t k = 0; k < count; ++k) {
    sample.boxes.push_back(drawn_box(detection, sample.size, draws));
    sample.labels.push_back(static_cast<int32_t>(1 + draws.below(detection.slots - 1)));
    if (with_masks) sample.masks.push_back(ellipse_mask(sample.boxes.back(), sample.size));
  }
  return sample;
}

RunLengths ellipse_mask(const std::array<float, 4>& box, ImageSize size) {
  const auto left = static_cast<int64_t>(std::floor(box[0])), top = static_cast<int64_t>(std::floor(box[1]));
  const auto width = static_cast<int64_t>(std::ceil(box[2])) - left;
  const auto height = static_cast<int64_t>(std::ceil(box[3])) - top;
  const auto inside = [&](int64_t column, int64_t row) {
    const int64_t x = (2 * column + 1 - width) * height, y = (2 * row + 1 - height) * width;
    return x * x + y * y <= width * width * height * height;
  };
  RunLengths mask{.height = size.height, .width = size.width, .runs = {}};
  const int64_t middle = (height - 1) / 2;
  int64_t first = middle, end = 0;  // where a column begins, from that of the column before; pixels written
  for (int64_t column = 0; column < width; ++column) {
    while (first > 0 && inside(column, first - 1)) --first;
    while (first < middle && !inside(column, first)) ++first;
    if (!inside(column, first)) continue;
    const int64_t begin = (left + column) * size.height + top + first;
    add_run(mask.runs, begin - end, height - 2 * first);
    end = begin + height - 2 * first;
  }
  if (end < size.width * size.height) mask.runs.push_back(static_cast<int32_t>(size.width * size.height - end));
  return mask;
}

std::unique_ptr<Samples> synthetic_detection_samples(const SourceSpec& spec) {
  return std::make_unique<SyntheticDetection>(spec);
}

}  // namespace tbd
