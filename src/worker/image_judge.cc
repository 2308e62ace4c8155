#include "worker/image_judge.h"

#include <algorithm>
#include <cmath>

#include "base/philox.h"
#include "data/png_encoder.h"
#include "quality/sliced_wasserstein.h"
#include "record/pictures.h"
#include "worker/sample_rows.h"

namespace tbd {
namespace {

constexpr int64_t kSheet = 8;   // images of a side
constexpr int64_t kShown = 64;  // pixels that a side of an image has at least, enlarged by whole factors
constexpr int64_t kColours = 3;

// Some of the images that were added: those with the smallest numbers, by their numbers.
class ImageSet {
 public:
  explicit ImageSet(size_t most) : most_(most) {}

  void add(const HostTensor& images, int64_t samples, const std::function<uint32_t(int64_t place)>& number) {
    const HostTensor more = converted(sample_rows(images, 0, samples), DType::f32);
    shape_ = more.shape();
    const auto each = static_cast<size_t>(shape_.elements() / std::max<int64_t>(1, samples));
    for (int64_t n = 0; n < samples; ++n, ++added_) {
      const auto pixels = more.as<float>().subspan(static_cast<size_t>(n) * each, each);
      images_[{number(added_), added_}] = {pixels.begin(), pixels.end()};
      if (images_.size() > most_) images_.erase(std::prev(images_.end()));
    }
  }
  int64_t count() const { return std::ssize(images_); }
  int64_t side() const { return shape_.back(); }
  HostTensor part(int64_t begin, int64_t count) const {
    Shape shape = shape_;
    shape[0] = count;
    HostTensor out(DType::f32, shape);
    auto to = out.as<float>().begin();
    for (auto image = std::next(images_.begin(), begin); count > 0; ++image, --count)
      to = std::ranges::copy(image->second, to).out;
    return out;
  }

 private:
  size_t most_;
  int64_t added_ = 0;
  Shape shape_;
  std::map<std::pair<uint32_t, int64_t>, std::vector<float>> images_;  // by number and place
};

uint8_t level_of(float value) { return static_cast<uint8_t>(std::lround(255 * std::clamp((value + 1) / 2, 0.F, 1.F))); }

// Rows of images (n, 3, S, S) side by side, black where there are none.
RgbImage sheet_of(const HostTensor& images) {
  const int64_t count = images.shape()[0], side = images.shape()[2], factor = std::max<int64_t>(1, kShown / side);
  const int64_t columns = std::min(count, kSheet), rows = (count + kSheet - 1) / kSheet, tile = side * factor;
  RgbImage sheet{{columns * tile, rows * tile},
                 std::vector<uint8_t>(static_cast<size_t>(columns * rows * tile * tile * kColours))};
  const auto pixels = images.as<float>();
  for (int64_t y = 0; y < rows * tile; ++y)
    for (int64_t x = 0; x < columns * tile; ++x)
      for (int64_t c = 0; c < kColours; ++c) {
        const int64_t image = y / tile * kSheet + x / tile;
        if (image >= count) continue;
        const int64_t from = ((image * kColours + c) * side + y % tile / factor) * side + x % tile / factor;
        sheet.pixels[static_cast<size_t>((y * columns * tile + x) * kColours + c)] =
            level_of(pixels[static_cast<size_t>(from)]);
      }
  return sheet;
}

class ImageJudge final : public Judge {
 public:
  void add(const TensorMap& batch, const TensorMap& answers, int64_t samples) override {
    real_.add(batch.at("real"), samples,
              [&](int64_t place) { return order_.at(0, static_cast<uint32_t>(place)).word(0); });
    made_.add(answers.at("fake"), samples, [](int64_t) { return 0; });  // the first: noise has no order
    of_real_ += sum_of(answers.at("d_real"), samples);
    of_made_ += sum_of(answers.at("d_fake"), samples);
    samples_ += samples;
  }

  std::map<std::string, double> metrics() const override {
    if (samples_ == 0) return {};
    std::map<std::string, double> metrics = {
        {"critic_distance", (of_real_ - of_made_) / static_cast<double>(samples_)}};
    const int64_t n = std::min(made_.count(), real_.count() / 2);
    if (n == 0) return metrics;
    const HostTensor real = real_.part(0, n);
    const SlicedWasserstein found = sliced_wasserstein(made_.part(0, n), real);
    const std::string name = found.levels.size() > 1 ? "swd" : "patch_swd";
    metrics[name] = found.mean;
    if (found.levels.size() > 1)
      for (const SlicedWasserstein::Level& level : found.levels)
        metrics[cat(name, "_", level.resolution)] = level.distance;
    metrics[name + "_floor"] = sliced_wasserstein(real, real_.part(n, n)).mean;
    metrics[name + "_images"] = static_cast<double>(n);
    return metrics;
  }

  std::vector<Picture> pictures(int64_t most) const override {
    std::vector<Picture> sheets;
    const auto add_sheet = [&](const ImageSet& images, const char* name, const char* title) {
      const int64_t count = std::min(images.count(), kSheet * kSheet);
      if (std::ssize(sheets) >= most || count == 0) return;
      sheets.push_back({.file = cat(name, ".png"),
                        .title = title,
                        .caption = cat(count, " images of ", images.side(), " x ", images.side(), " pixels"),
                        .png = encode_png(sheet_of(images.part(0, count)))});
    };
    add_sheet(made_, "generated", "Images that the network made");
    add_sheet(real_, "held-out", "Held-out images");
    return sheets;
  }

 private:
  static double sum_of(const HostTensor& scores, int64_t samples) {
    double sum = 0;
    for (const double score : as_doubles(sample_rows(scores, 0, samples))) sum += score;
    return sum;
  }

  Philox order_{0, "held_out/images"};
  ImageSet real_{2 * kComparedImages}, made_{kComparedImages};
  double of_real_ = 0, of_made_ = 0;
  int64_t samples_ = 0;
};

}  // namespace

std::unique_ptr<Judge> image_judge() { return std::make_unique<ImageJudge>(); }

}  // namespace tbd
