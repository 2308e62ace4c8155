#include "host/detection/anchors.h"

#include <cmath>

#include "base/error.h"

namespace tbd::detection {
namespace {

struct Aspect {
  double x, y;
};
constexpr Aspect kAspects[] = {{1, 1}, {1.4, 0.7}, {0.7, 1.4}};
constexpr int kOctaves = 3;

// Half the sides of a cell's nine anchors, by octave and aspect.
std::vector<Aspect> half_sides(double scale, int64_t stride) {
  std::vector<Aspect> halves;
  for (int octave = 0; octave < kOctaves; ++octave) {
    const double base = scale * static_cast<double>(stride) * std::pow(2.0, octave / static_cast<double>(kOctaves));
    for (const Aspect& aspect : kAspects) halves.push_back({base * aspect.x / 2.0, base * aspect.y / 2.0});
  }
  return halves;
}

void append_level(std::vector<YxBox>& rows, const EfficientDetAnchors& settings, int64_t extent) {
  const int64_t stride = settings.image / extent;
  const std::vector<Aspect> halves = half_sides(settings.scale, stride);
  const auto centre = [&](int64_t cell) {
    return static_cast<double>(stride) / 2 + static_cast<double>(cell * stride);
  };
  for (int64_t i = 0; i < extent; ++i)
    for (int64_t j = 0; j < extent; ++j)
      for (const Aspect& half : halves)
        rows.push_back({static_cast<float>(centre(i) - half.y), static_cast<float>(centre(j) - half.x),
                        static_cast<float>(centre(i) + half.y), static_cast<float>(centre(j) + half.x)});
}

}  // namespace

Pyramid pyramid(const Extent& image, std::span<const Extent> extents, std::span<const double> sizes,
                std::span<const double> ratios) {
  require(!extents.empty() && !sizes.empty() && sizes.size() % extents.size() == 0, "anchors: ", sizes.size(),
          " sizes do not share out over ", extents.size(), " levels");
  require(!ratios.empty(), "anchors: no ratio");
  const size_t each = sizes.size() / extents.size();
  Pyramid out = {.levels = {}, .ratios = {ratios.begin(), ratios.end()}};
  for (size_t i = 0; i < extents.size(); ++i) {
    const auto& [height, width] = extents[i];
    require(height >= 1 && width >= 1 && height <= image.height && width <= image.width, "anchors: level ", i, " has ",
            height, " x ", width, " cells, the image ", image.height, " x ", image.width, " pixels");
    const std::span<const double> own = sizes.subspan(i * each, each);
    out.levels.push_back({.extent = extents[i],
                          .stride = {image.height / height, image.width / width},
                          .sizes = {own.begin(), own.end()}});
  }
  return out;
}

std::vector<Box> base_anchors(std::span<const double> sizes, std::span<const double> ratios) {
  std::vector<Box> boxes;
  for (const double ratio : ratios) {
    const float tall = std::sqrt(static_cast<float>(ratio));
    const float wide = 1.0F / tall;
    for (const double size : sizes) {
      const double x = std::nearbyint(wide * static_cast<float>(size) / 2.0F);
      const double y = std::nearbyint(tall * static_cast<float>(size) / 2.0F);
      boxes.push_back({-x, -y, x, y});
    }
  }
  return boxes;
}

Box shifted(const Box& base, const Level& level, int64_t y, int64_t x) {
  const auto down = static_cast<double>(y * level.stride.height);
  const auto right = static_cast<double>(x * level.stride.width);
  return {base.x1 + right, base.y1 + down, base.x2 + right, base.y2 + down};
}

int64_t anchor_count(const Level& level, const Pyramid& pyramid) {
  return level.extent.height * level.extent.width * static_cast<int64_t>(level.sizes.size() * pyramid.ratios.size());
}

int64_t anchor_count(const Pyramid& pyramid) {
  int64_t count = 0;
  for (const Level& level : pyramid.levels) count += anchor_count(level, pyramid);
  return count;
}

std::vector<Box> anchors(const Pyramid& pyramid) {
  std::vector<Box> rows;
  rows.reserve(static_cast<size_t>(anchor_count(pyramid)));
  for (const Level& level : pyramid.levels) {
    const std::vector<Box> bases = base_anchors(level.sizes, pyramid.ratios);
    for (int64_t y = 0; y < level.extent.height; ++y)
      for (int64_t x = 0; x < level.extent.width; ++x)
        for (const Box& base : bases) rows.push_back(shifted(base, level, y, x));
  }
  return rows;
}

Box anchor_at(const Pyramid& pyramid, int64_t row) {
  auto level = pyramid.levels.begin();
  for (; row >= anchor_count(*level, pyramid); ++level) row -= anchor_count(*level, pyramid);
  const std::vector<Box> bases = base_anchors(level->sizes, pyramid.ratios);
  const int64_t cell = row / std::ssize(bases);
  return shifted(bases[row % std::ssize(bases)], *level, cell / level->extent.width, cell % level->extent.width);
}

std::vector<YxBox> efficientdet_anchors(const EfficientDetAnchors& settings) {
  std::vector<YxBox> rows;
  for (const int64_t extent : settings.extents) {
    require(extent >= 1 && settings.image % extent == 0, "anchors: a level of ", extent,
            " cells does not divide an image of ", settings.image, " pixels");
    append_level(rows, settings, extent);
  }
  return rows;
}

}  // namespace tbd::detection
