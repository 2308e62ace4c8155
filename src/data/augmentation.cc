#include "data/augmentation.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/philox.h"

namespace tbd {
namespace {

constexpr int kTries = 10;
constexpr double kLeastArea = 0.08;
constexpr double kWidest = 4.0 / 3;

PixelRect box_at(int64_t left, int64_t top, int64_t width, int64_t height) {
  return {left, top, left + width, top + height};
}

std::optional<PixelRect> attempt(ImageSize image, const Philox& draws, uint64_t first) {
  const double area =
      static_cast<double>(image.width * image.height) * (kLeastArea + (1 - kLeastArea) * draws.uniform(first));
  const double aspect = std::exp(std::log(kWidest) * (2 * draws.uniform(first + 1) - 1));
  const auto width = static_cast<int64_t>(std::nearbyint(std::sqrt(area * aspect)));
  const auto height = static_cast<int64_t>(std::nearbyint(std::sqrt(area / aspect)));
  if (width < 1 || height < 1 || width > image.width || height > image.height) return std::nullopt;
  const auto place = [](double u, int64_t room) { return static_cast<int64_t>(u * static_cast<double>(room + 1)); };
  return box_at(place(draws.uniform(first + 3), image.width - width),
                place(draws.uniform(first + 2), image.height - height), width, height);
}

PixelRect centre(ImageSize image) {
  const double aspect = static_cast<double>(image.width) / static_cast<double>(image.height);
  int64_t width = image.width, height = image.height;
  if (aspect < 1 / kWidest) height = static_cast<int64_t>(std::nearbyint(static_cast<double>(width) * kWidest));
  if (aspect > kWidest) width = static_cast<int64_t>(std::nearbyint(static_cast<double>(height) * kWidest));
  return box_at((image.width - width) / 2, (image.height - height) / 2, width, height);
}

}  // namespace

CropPlan training_crop(ImageSize image, int64_t output, uint64_t seed, uint32_t epoch, uint32_t position) {
  const Philox draws(seed, "data/crop", epoch, position);
  std::optional<PixelRect> box;
  for (uint64_t t = 0; t < kTries && !box; ++t) box = attempt(image, draws, 4 * t);
  if (!box) box = centre(image);
  return {.window = {static_cast<double>(box->left), static_cast<double>(box->top),
                     static_cast<double>(box->right - box->left), static_cast<double>(box->bottom - box->top)},
          .readable = *box,
          .output = {output, output},
          .flip = Philox(seed, "data/flip", epoch, position).uniform(0) < 0.5};
}

CropPlan validation_crop(ImageSize image, int64_t output) {
  const int64_t shorter = (output * 256 + 112) / 224;
  const bool wide = image.width >= image.height;
  const int64_t longer = shorter * std::max(image.width, image.height) / std::min(image.width, image.height);
  const ImageSize resized = wide ? ImageSize{longer, shorter} : ImageSize{shorter, longer};
  const auto part = [output](int64_t full, int64_t extent, double& start, double& length) {
    const double ratio = static_cast<double>(full) / static_cast<double>(extent);
    start = std::nearbyint(static_cast<double>(extent - output) / 2) * ratio;
    length = static_cast<double>(output) * ratio;
  };
  CropPlan plan{.readable = {0, 0, image.width, image.height}, .output = {output, output}};
  part(image.width, resized.width, plan.window.left, plan.window.width);
  part(image.height, resized.height, plan.window.top, plan.window.height);
  return plan;
}

std::vector<uint32_t> epoch_order(uint64_t seed, uint32_t epoch, int64_t count) {
  const Philox stream(seed, "data/order", epoch);
  std::vector<uint64_t> keyed(static_cast<size_t>(count));  // word, then position: ties fall to the position
  for (uint64_t i = 0; i < keyed.size(); ++i)
    keyed[i] = uint64_t{stream.at(epoch, static_cast<uint32_t>(i)).word(0)} << 32 | i;
  std::sort(keyed.begin(), keyed.end());
  std::vector<uint32_t> order(keyed.size());
  std::transform(keyed.begin(), keyed.end(), order.begin(), [](uint64_t k) { return static_cast<uint32_t>(k); });
  return order;
}

uint32_t EpochOrders::position(uint32_t epoch, int64_t place) const {
  if (!training_) return static_cast<uint32_t>(place);
  const std::lock_guard lock(mutex_);
  // Two epochs at most are in preparation at once.
  if (!orders_.contains(epoch)) {
    if (orders_.size() >= 2) orders_.erase(orders_.begin());
    orders_[epoch] = epoch_order(seed_, epoch, count_);
  }
  return orders_[epoch][static_cast<size_t>(place)];
}

}  // namespace tbd
