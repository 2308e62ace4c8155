#include "data/detection/picture_plan.h"

#include <algorithm>
#include <cmath>

#include "base/philox.h"

namespace tbd {
namespace {

Philox drawn_from(const char* stream, const PictureDraws& draws) {
  return Philox(draws.seed, stream, draws.epoch, draws.position);
}
bool drawn_flip(const std::optional<PictureDraws>& draws) {
  return draws && drawn_from("data/flip", *draws).uniform(0) < 0.5;
}

int64_t scaled_extent(int64_t extent, double scale) {
  return std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(extent) * scale));
}

double ratio(int64_t part, int64_t whole) { return static_cast<double>(part) / static_cast<double>(whole); }

// Sides beyond the canvas are brought to it: a small configuration needs no sides of its own.
int64_t short_side_on(const DetectionSpec& spec) { return std::min({spec.short_side, spec.height, spec.width}); }
int64_t long_side_on(const DetectionSpec& spec) { return std::min(spec.long_side, std::max(spec.height, spec.width)); }

// Between which source pixels an axis of the canvas takes its values.
struct Tap {
  int64_t first = 0, second = 0;
  float weight = 0;  // of the second
};
std::vector<Tap> taps_of(int64_t source, int64_t scaled, int64_t begin, int64_t count) {
  std::vector<Tap> taps;
  const float step = static_cast<float>(source) / static_cast<float>(scaled);
  for (int64_t i = begin; i < begin + count; ++i) {
    const float at = std::max((static_cast<float>(i) + 0.5f) * step - 0.5f, 0.f);
    const int64_t first = std::min(static_cast<int64_t>(at), source - 1);
    taps.push_back({first, std::min(first + 1, source - 1), at - static_cast<float>(first)});
  }
  return taps;
}

using Levels = std::array<std::array<float, 256>, 3>;
const Levels& normalised_levels() {
  static const Levels levels = [] {
    constexpr Normalisation kImageNet;
    Levels all{};
    for (size_t c = 0; c < 3; ++c)
      for (size_t level = 0; level < 256; ++level)
        all[c][level] = (static_cast<float>(level) / 255 - kImageNet.mean[c]) / kImageNet.deviation[c];
    return all;
  }();
  return levels;
}

}  // namespace

ImageSize resized_extents(ImageSize image, int64_t short_side, int64_t long_side) {
  const auto [least, most] = std::minmax(image.width, image.height);
  const double scale = std::min(ratio(short_side, least), ratio(long_side, most));
  return {.width = scaled_extent(image.width, scale), .height = scaled_extent(image.height, scale)};
}

bool fits_canvas(ImageSize image, const DetectionSpec& spec) {
  const ImageSize resized = resized_extents(image, short_side_on(spec), long_side_on(spec));
  return resized.width <= spec.width && resized.height <= spec.height;
}

PicturePlan two_stage_plan(ImageSize image, const DetectionSpec& spec, std::optional<PictureDraws> draws) {
  int64_t short_side = short_side_on(spec);
  if (draws && spec.multiscale) {
    const auto part = static_cast<int64_t>(6 * drawn_from("data/detection_scale", *draws).uniform(0));
    short_side = short_side * (20 + part) / 25;
  }
  const ImageSize scaled = resized_extents(image, std::max<int64_t>(1, short_side), long_side_on(spec));
  return {.source = image,
          .scaled = scaled,
          .shown = scaled,
          .scale_x = static_cast<float>(scaled.width) / static_cast<float>(image.width),
          .scale_y = static_cast<float>(scaled.height) / static_cast<float>(image.height),
          .flip = drawn_flip(draws)};
}

PicturePlan one_stage_plan(ImageSize image, const DetectionSpec& spec, std::optional<PictureDraws> draws) {
  const ImageSize canvas{.width = spec.width, .height = spec.height};
  const double range = spec.most_scale - spec.least_scale;
  const double factor = draws ? spec.least_scale + range * drawn_from("data/detection_scale", *draws).uniform(0) : 1;
  const double scale = std::min(factor * static_cast<double>(canvas.height) / static_cast<double>(image.height),
                                factor * static_cast<double>(canvas.width) / static_cast<double>(image.width));
  PicturePlan plan{.source = image,
                   .scaled = {.width = scaled_extent(image.width, scale), .height = scaled_extent(image.height, scale)},
                   .scale_x = static_cast<float>(scale),
                   .scale_y = static_cast<float>(scale),
                   .flip = drawn_flip(draws)};
  const auto offset = [&](int64_t extent, int64_t side, uint64_t index) {
    if (!draws || extent <= side) return int64_t{0};
    return static_cast<int64_t>(drawn_from("data/detection_scale", *draws).uniform(index) *
                                static_cast<double>(extent - side));
  };
  plan.top = offset(plan.scaled.height, canvas.height, 1);
  plan.left = offset(plan.scaled.width, canvas.width, 2);
  plan.shown = {.width = std::min(plan.scaled.width, canvas.width),
                .height = std::min(plan.scaled.height, canvas.height)};
  return plan;
}

PicturePlan picture_plan(ImageSize image, const DetectionSpec& spec, std::optional<PictureDraws> draws) {
  return spec.task == DetectionTask::one_stage ? one_stage_plan(image, spec, draws)
                                               : two_stage_plan(image, spec, draws);
}

std::optional<std::array<float, 4>> clipped_box(const std::array<double, 4>& box, ImageSize image) {
  const auto x = static_cast<float>(box[0]), y = static_cast<float>(box[1]);
  const auto width = static_cast<float>(image.width), height = static_cast<float>(image.height);
  const std::array<float, 4> out = {std::clamp(x, 0.f, width), std::clamp(y, 0.f, height),
                                    std::clamp(x + static_cast<float>(box[2]), 0.f, width),
                                    std::clamp(y + static_cast<float>(box[3]), 0.f, height)};
  return out[2] > out[0] && out[3] > out[1] ? std::optional(out) : std::nullopt;
}

std::optional<std::array<float, 4>> placed_box(const std::array<float, 4>& box, const PicturePlan& plan) {
  const auto whole = static_cast<float>(plan.source.width);
  const float x1 = plan.flip ? whole - box[2] : box[0], x2 = plan.flip ? whole - box[0] : box[2];
  const auto at = [](float x, float scale, int64_t offset, int64_t most) {
    return std::clamp(x * scale - static_cast<float>(offset), 0.f, static_cast<float>(most));
  };
  const std::array<float, 4> out = {
      at(x1, plan.scale_x, plan.left, plan.shown.width), at(box[1], plan.scale_y, plan.top, plan.shown.height),
      at(x2, plan.scale_x, plan.left, plan.shown.width), at(box[3], plan.scale_y, plan.top, plan.shown.height)};
  return out[2] > out[0] && out[3] > out[1] ? std::optional(out) : std::nullopt;
}

RunLengths placed_mask(const RunLengths& mask, const PicturePlan& plan) {
  return resize(plan.flip ? mirror(mask) : mask, plan.scaled.height, plan.scaled.width);
}

void place_picture(const RgbImage& image, const PicturePlan& plan, ImageSize canvas, std::span<float> out) {
  const std::vector<Tap> rows = taps_of(plan.source.height, plan.scaled.height, plan.top, plan.shown.height);
  std::vector<Tap> columns = taps_of(plan.source.width, plan.scaled.width, plan.left, plan.shown.width);
  for (Tap& tap : columns) {  // as places of a pixel's first level in its row
    const auto byte_of = [&](int64_t column) { return 3 * (plan.flip ? plan.source.width - 1 - column : column); };
    tap.first = byte_of(tap.first);
    tap.second = byte_of(tap.second);
  }
  const auto width = static_cast<size_t>(canvas.width), plane = width * static_cast<size_t>(canvas.height);
  std::ranges::fill(out, 0.f);
  for (size_t y = 0; y < rows.size(); ++y) {
    const uint8_t* above = image.pixels.data() + 3 * rows[y].first * plan.source.width;
    const uint8_t* below = image.pixels.data() + 3 * rows[y].second * plan.source.width;
    for (size_t c = 0; c < 3; ++c) {
      const std::array<float, 256>& level = normalised_levels()[c];
      float* const row = out.data() + c * plane + y * width;
      for (size_t x = 0; x < columns.size(); ++x) {
        const auto [left, right, weight] = columns[x];
        const float upper = (1 - weight) * level[above[left + c]] + weight * level[above[right + c]];
        const float lower = (1 - weight) * level[below[left + c]] + weight * level[below[right + c]];
        row[x] = (1 - rows[y].weight) * upper + rows[y].weight * lower;
      }
    }
  }
}

}  // namespace tbd
