#include "data/unlabelled_images.h"

#include <algorithm>

#include "base/error.h"
#include "base/philox.h"
#include "data/folder_listing.h"
#include "data/image_file.h"
#include "data/text/batch_order.h"

namespace tbd {
namespace {

float of_level(uint32_t level) { return static_cast<float>(level) / 127.5f - 1; }

void draw_alpha(const Philox& stream, int64_t step, int64_t slot, const Row& row) {
  const Philox here = stream.at(static_cast<uint32_t>(step), static_cast<uint32_t>(slot));
  row.floats("alpha")[0] = static_cast<float>(here.uniform(0));
}

BatchLayout unlabelled_layout(const SourceSpec& spec, int64_t samples) {
  return {.samples = samples,
          .tensors = {{"real", DType::f32, {3, spec.image_size, spec.image_size}}, {"alpha", DType::f32, {1, 1, 1}}}};
}

class UnlabelledImages final : public Samples {
 public:
  explicit UnlabelledImages(const SourceSpec& spec)
      : spec_(spec), listing_(listed(spec)), order_(spec, std::vector<uint16_t>(listing_.files.size()), {spec.batch}) {
    read_square_image(listing_.root / listing_.files[0], spec.image_size);
  }

  std::unique_ptr<SampleMaker> maker() const override;
  BatchLayout layout(int64_t step) const override { return unlabelled_layout(spec_, order_.batch(step).samples); }
  std::optional<int64_t> size() const override { return static_cast<int64_t>(listing_.files.size()); }
  std::optional<int64_t> steps_per_epoch() const override { return order_.steps_per_epoch(); }
  std::optional<std::string> data_hash() const override { return listing_.data_hash; }

 private:
  static UnlabelledListing listed(const SourceSpec& spec) {
    UnlabelledListing listing = list_unlabelled_images(spec.path, spec.split, spec.image_size);
    const auto count = static_cast<int64_t>(listing.files.size());
    require(spec.split == Split::val || spec.batch <= count, "batch ", spec.batch,
            " is larger than the data set: ", listing.root.string(), " has ", count, " images");
    return listing;
  }

  SourceSpec spec_;
  UnlabelledListing listing_;
  BatchOrder order_;

  class Maker;
};

class UnlabelledImages::Maker final : public SampleMaker {
 public:
  explicit Maker(const UnlabelledImages& images) : images_(images), alpha_(images.spec_.seed, "data/alpha") {}

  void make(int64_t step, int64_t slot, const Row& row) override {
    const std::string& file = images_.listing_.files[images_.order_.position(step, slot)];
    const RgbImage image = read_square_image(images_.listing_.root / file, images_.spec_.image_size);
    const std::span<float> real = row.floats("real");
    const size_t plane = real.size() / 3;
    for (size_t i = 0; i < plane; ++i)
      for (size_t c = 0; c < 3; ++c) real[c * plane + i] = of_level(image.pixels[3 * i + c]);
    draw_alpha(alpha_, step, slot, row);
  }

 private:
  const UnlabelledImages& images_;
  Philox alpha_;
};

std::unique_ptr<SampleMaker> UnlabelledImages::maker() const { return std::make_unique<Maker>(*this); }

class SyntheticUnlabelled final : public Samples {
 public:
  explicit SyntheticUnlabelled(const SourceSpec& spec) : spec_(spec) {}
  std::unique_ptr<SampleMaker> maker() const override;
  BatchLayout layout(int64_t) const override { return unlabelled_layout(spec_, spec_.batch); }
  std::optional<int64_t> size() const override { return std::nullopt; }
  std::optional<int64_t> steps_per_epoch() const override { return std::nullopt; }

 private:
  SourceSpec spec_;

  class Maker;
};

class SyntheticUnlabelled::Maker final : public SampleMaker {
 public:
  explicit Maker(uint64_t seed) : levels_(seed, "data/synthetic_levels"), alpha_(seed, "data/alpha") {}

  void make(int64_t step, int64_t slot, const Row& row) override {
    const Philox levels = levels_.at(static_cast<uint32_t>(step), static_cast<uint32_t>(slot));
    const std::span<float> real = row.floats("real");
    for (size_t i = 0; i < real.size(); i += 4) {
      uint32_t word = levels.word(i / 4);
      for (size_t k = i; k < std::min(i + 4, real.size()); ++k, word >>= 8) real[k] = of_level(word & 255);
    }
    draw_alpha(alpha_, step, slot, row);
  }

 private:
  Philox levels_, alpha_;
};

std::unique_ptr<SampleMaker> SyntheticUnlabelled::maker() const { return std::make_unique<Maker>(spec_.seed); }

}  // namespace

std::unique_ptr<Samples> unlabelled_image_samples(const SourceSpec& spec) {
  return std::make_unique<UnlabelledImages>(spec);
}

std::unique_ptr<Samples> synthetic_unlabelled_samples(const SourceSpec& spec) {
  return std::make_unique<SyntheticUnlabelled>(spec);
}

}  // namespace tbd
