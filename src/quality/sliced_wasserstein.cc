// One level at a time: pyramids of all images, their patches as points, the points along directions. To compute a
// pyramid anew for each level costs little beside the sorting, and only one level's points are in memory.
#include "quality/sliced_wasserstein.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/philox.h"
#include "quality/image_pyramid.h"

namespace tbd {
namespace {

constexpr int64_t kPatch = 7, kSmallest = 16;
constexpr size_t kPatchPixels = kPatch * kPatch;

// Directions that are walked along together: the points are read once for all.
constexpr size_t kBlock = 16;
using Block = std::array<double, kBlock>;
using Along = std::array<std::vector<double>, kBlock>;

size_t point_count(const PointSet& set) { return set.dimensions == 0 ? 0 : set.values.size() / set.dimensions; }

void require_points(const PointSet& set, const char* name) {
  require(point_count(set) > 0 && set.values.size() % set.dimensions == 0, name, ": ", set.values.size(),
          " numbers for points of ", set.dimensions);
  for (size_t i = 0; i < set.values.size(); ++i)
    require(std::isfinite(set.values[i]), name, ": number ", i % set.dimensions, " of point ", i / set.dimensions,
            " is ", set.values[i]);
}

// Unit vectors from `first` on, component by component. Those beyond the last are 0.
std::vector<Block> direction_block(const PointSet& directions, size_t first) {
  const size_t dimensions = directions.dimensions;
  std::vector<Block> block(dimensions, Block{});
  for (size_t d = 0; d < kBlock && first + d < point_count(directions); ++d) {
    const auto direction = std::span(directions.values).subspan((first + d) * dimensions, dimensions);
    double squares = 0;
    for (const double component : direction) squares += component * component;
    require(squares > 0, "direction ", first + d, " has no length");
    for (size_t k = 0; k < dimensions; ++k) block[k][d] = direction[k] / std::sqrt(squares);
  }
  return block;
}

void walk(const PointSet& set, const std::vector<Block>& block, Along& along) {
  for (std::vector<double>& one : along) one.resize(point_count(set));
  for (size_t point = 0; point < point_count(set); ++point) {
    const double* values = &set.values[point * set.dimensions];
    Block sums{};
    for (size_t k = 0; k < set.dimensions; ++k)
      for (size_t d = 0; d < kBlock; ++d) sums[d] += values[k] * block[k][d];
    for (size_t d = 0; d < kBlock; ++d) along[d][point] = sums[d];
  }
}

double mean_difference(std::vector<double>& a, std::vector<double>& b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum / static_cast<double>(a.size());
}

struct ImageExtents {
  int64_t count = 0, channels = 0, side = 0;
};
ImageExtents image_extents(const HostTensor& images) {
  const Shape& shape = images.shape();
  require(images.dtype() == DType::f32 && shape.rank() == 4 && shape[2] == shape[3] && shape.elements() > 0,
          "expected f32 images (n, channels, side, side), got ", images.dtype(), " ", shape);
  require(shape[2] >= kPatch, "a patch of 7 x 7 does not fit into ", shape);
  return {shape[0], shape[1], shape[2]};
}

int64_t level_count(int64_t side) {
  int64_t levels = 1;
  for (; side >= 2 * kSmallest; side /= 2, ++levels) require(side % 2 == 0, "a side of ", side, " cannot be halved");
  return levels;
}

ImagePlane plane_of(const HostTensor& images, int64_t image, int64_t channel) {
  const ImageExtents extents = image_extents(images);
  const int64_t pixels = extents.side * extents.side;
  const auto values = images.as<float>().subspan(static_cast<size_t>((image * extents.channels + channel) * pixels),
                                                 static_cast<size_t>(pixels));
  for (const float value : values)
    require(std::isfinite(value), "channel ", channel, " of image ", image, " has a pixel of ", value);
  return {.height = extents.side, .width = extents.side, .values = {values.begin(), values.end()}};
}

struct Level {
  int64_t index = 0, count = 0;  // of the pyramid
};
// Where the patches of one image begin, in a plane of `side`.
struct Corner {
  int64_t row = 0, column = 0;
};
std::vector<Corner> corners(const Philox& stream, int64_t side, int64_t count) {
  const auto places = static_cast<double>(side - kPatch + 1);
  std::vector<Corner> corners(static_cast<size_t>(count));
  for (size_t i = 0; i < corners.size(); ++i)
    corners[i] = {.row = static_cast<int64_t>(stream.uniform(2 * i) * places),
                  .column = static_cast<int64_t>(stream.uniform(2 * i + 1) * places)};
  return corners;
}

// The patches of all images, channel by channel of each.
PointSet patches_of(const HostTensor& images, const Level& level, const SlicedSettings& settings) {
  const ImageExtents extents = image_extents(images);
  const Philox places(settings.seed, "sliced_wasserstein/patches");
  PointSet set{.dimensions = static_cast<size_t>(extents.channels) * kPatchPixels};
  set.values.resize(static_cast<size_t>(extents.count * settings.patches) * set.dimensions);
  for (int64_t image = 0; image < extents.count; ++image)
    for (int64_t channel = 0; channel < extents.channels; ++channel) {
      const std::vector<ImagePlane> pyramid = laplacian_pyramid(plane_of(images, image, channel), level.count);
      const ImagePlane& plane = pyramid[static_cast<size_t>(level.index)];
      const auto stream = places.at(static_cast<uint32_t>(level.index), static_cast<uint32_t>(image));
      auto to =
          static_cast<size_t>(image * settings.patches) * set.dimensions + static_cast<size_t>(channel) * kPatchPixels;
      for (const Corner& corner : corners(stream, plane.width, settings.patches)) {
        for (int64_t row = 0; row < kPatch; ++row)
          std::copy_n(&plane.values[static_cast<size_t>((corner.row + row) * plane.width + corner.column)], kPatch,
                      &set.values[to + static_cast<size_t>(row * kPatch)]);
        to += set.dimensions;
      }
    }
  return set;
}

// To mean 0 and standard deviation 1 of the pixels of one channel, over all patches.
void standardize(PointSet& patches, size_t channel) {
  const auto for_each_pixel = [&](const auto& visit) {
    for (size_t point = 0; point < point_count(patches); ++point)
      for (size_t i = 0; i < kPatchPixels; ++i)
        visit(patches.values[point * patches.dimensions + channel * kPatchPixels + i]);
  };
  const auto count = static_cast<double>(point_count(patches) * kPatchPixels);
  double sum = 0, squares = 0;
  for_each_pixel([&](double value) { sum += value; });
  const double mean = sum / count;
  for_each_pixel([&](double value) { squares += (value - mean) * (value - mean); });
  const double deviation = std::sqrt(squares / count);
  for_each_pixel([&](double& value) { value = deviation > 0 ? (value - mean) / deviation : 0; });
}

PointSet level_points(const HostTensor& images, const Level& level, const SlicedSettings& settings) {
  PointSet patches = patches_of(images, level, settings);
  for (size_t channel = 0; channel * kPatchPixels < patches.dimensions; ++channel) standardize(patches, channel);
  return patches;
}

PointSet random_directions(const Level& level, size_t dimensions, const SlicedSettings& settings) {
  const Philox stream(settings.seed, "sliced_wasserstein/directions");
  PointSet directions{.dimensions = dimensions};
  for (int64_t i = 0; i < settings.directions; ++i) {
    const Philox draws = stream.at(static_cast<uint32_t>(level.index), static_cast<uint32_t>(i));
    for (size_t k = 0; k < dimensions; ++k) directions.values.push_back(draws.normal(k));
  }
  return directions;
}

}  // namespace

double sliced_distance(const PointSet& a, const PointSet& b, const PointSet& directions) {
  require_points(a, "the first set");
  require_points(b, "the second set");
  require_points(directions, "directions");
  require(a.dimensions == b.dimensions && a.dimensions == directions.dimensions, "points of ", a.dimensions, " and ",
          b.dimensions, " numbers, directions of ", directions.dimensions);
  require(a.values.size() == b.values.size(), "sets of ", point_count(a), " and ", point_count(b), " points");
  const size_t count = point_count(directions);
  double sum = 0;
  Along along_a, along_b;
  for (size_t first = 0; first < count; first += kBlock) {
    const std::vector<Block> block = direction_block(directions, first);
    walk(a, block, along_a);
    walk(b, block, along_b);
    for (size_t d = 0; d < std::min(kBlock, count - first); ++d) sum += mean_difference(along_a[d], along_b[d]);
  }
  return sum / static_cast<double>(count);
}

SlicedWasserstein sliced_wasserstein(const HostTensor& a, const HostTensor& b, const SlicedSettings& settings) {
  const ImageExtents extents = image_extents(a);
  image_extents(b);
  require(a.shape() == b.shape(), "sets of images ", a.shape(), " and ", b.shape());
  require(settings.patches > 0 && settings.directions > 0, settings.patches, " patches and ", settings.directions,
          " directions");
  const int64_t levels = level_count(extents.side);
  SlicedWasserstein result;
  for (int64_t i = 0; i < levels; ++i) {
    const Level level = {.index = i, .count = levels};
    const PointSet points_a = level_points(a, level, settings), points_b = level_points(b, level, settings);
    const double distance =
        1000 * sliced_distance(points_a, points_b, random_directions(level, points_a.dimensions, settings));
    result.levels.push_back({.resolution = extents.side >> i, .distance = distance});
    result.mean += distance / static_cast<double>(levels);
  }
  result.name = cat(extents.side < 2 * kSmallest ? "patch SWD" : "sliced Wasserstein distance", " (n = ", extents.count,
                    ", ", settings.patches, " patches, ", settings.directions, " directions)");
  return result;
}

}  // namespace tbd
