#include "data/synthetic.h"

#include <cmath>

#include "base/hash.h"
#include "base/philox.h"

namespace tbd {
namespace {

// Philox keeps its stream number to itself, and word by word costs four times a block.
uint32_t stream_number(std::string_view name) {
  const auto digest = sha256(name);
  return uint32_t{digest[0]} << 24 | uint32_t{digest[1]} << 16 | uint32_t{digest[2]} << 8 | digest[3];
}

float noise(uint32_t word) {
  static const float scale = 1 / std::sqrt(21845.f);
  const auto sum = static_cast<int>((word & 255) + (word >> 8 & 255) + (word >> 16 & 255) + (word >> 24));
  return static_cast<float>(sum - 510) * scale;
}

class SyntheticMaker final : public SampleMaker {
 public:
  explicit SyntheticMaker(const SourceSpec& spec)
      : classes_(spec.classes), noise_(spec.seed), labels_(spec.seed, "data/synthetic_label") {}

  void make(int64_t step, int64_t slot, const Row& row) override {
    noise_.fill(step, slot, row.floats("image"));
    const Philox here = labels_.at(static_cast<uint32_t>(step), static_cast<uint32_t>(slot));
    row.ints("label")[0] = static_cast<int32_t>(here.uniform(0) * static_cast<double>(classes_));
  }

 private:
  int64_t classes_;
  ImageNoise noise_;
  Philox labels_;
};

class SyntheticSamples final : public Samples {
 public:
  explicit SyntheticSamples(const SourceSpec& spec) : spec_(spec) {}
  std::unique_ptr<SampleMaker> maker() const override { return std::make_unique<SyntheticMaker>(spec_); }
  BatchLayout layout(int64_t) const override { return image_layout(spec_, spec_.batch); }
  std::optional<int64_t> size() const override { return std::nullopt; }
  std::optional<int64_t> steps_per_epoch() const override { return std::nullopt; }

 private:
  SourceSpec spec_;
};

}  // namespace

ImageNoise::ImageNoise(uint64_t seed) : seed_(seed), stream_(stream_number("data/synthetic")) {}

void ImageNoise::fill(int64_t step, int64_t slot, std::span<float> image) const {
  const auto s = static_cast<uint32_t>(step), n = static_cast<uint32_t>(slot);
  const std::array<uint32_t, 2> key = {static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed_ >> 32)};
  for (size_t i = 0; i < image.size(); i += 4) {
    const auto words = philox4x32({stream_, s, n, static_cast<uint32_t>(i / 4)}, key);
    for (size_t k = 0; k < 4 && i + k < image.size(); ++k) image[i + k] = noise(words[k]);
  }
}

std::unique_ptr<Samples> synthetic_samples(const SourceSpec& spec) { return std::make_unique<SyntheticSamples>(spec); }

}  // namespace tbd
