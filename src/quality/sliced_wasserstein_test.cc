#include "quality/sliced_wasserstein.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/philox.h"
#include "quality/image_pyramid.h"

namespace tbd {
namespace {

using Rows = std::vector<std::vector<double>>;

Json sliced_golden(const char* part) {
  return parse_json(read_file(TBD_SOURCE_DIR "/src/quality/golden/sliced_wasserstein.json"), "sliced_wasserstein.json")
      .at(part);
}
PointSet points_of(const Rows& rows) {
  PointSet set{.dimensions = rows.front().size()};
  for (const std::vector<double>& row : rows) set.values.insert(set.values.end(), row.begin(), row.end());
  return set;
}
PointSet columns_of(const Rows& rows) {
  PointSet set{.dimensions = rows.size()};
  for (size_t column = 0; column < rows.front().size(); ++column)
    for (const std::vector<double>& row : rows) set.values.push_back(row[column]);
  return set;
}
ImagePlane plane_of_rows(const Rows& rows) {
  return {.height = static_cast<int64_t>(rows.size()),
          .width = static_cast<int64_t>(rows.front().size()),
          .values = points_of(rows).values};
}
void expect_equal_values(const std::vector<double>& values, const Rows& rows) {
  const std::vector<double> expected = points_of(rows).values;
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-9) << i;
}

TEST(SlicedGolden, Pyramid) {
  const Json golden = sliced_golden("pyramid");
  const ImagePlane image = plane_of_rows(golden.at("image_8x8").get<Rows>());
  expect_equal_values(pyramid_down(image).values, golden.at("down_4x4").get<Rows>());
  const std::vector<ImagePlane> pyramid = laplacian_pyramid(image, 2);
  ASSERT_EQ(pyramid.size(), 2u);
  expect_equal_values(pyramid[0].values, golden.at("laplacian_8x8").get<Rows>());
  expect_equal_values(pyramid[1].values, golden.at("down_4x4").get<Rows>());
}

TEST(SlicedGolden, Distance) {
  const Json golden = sliced_golden("sliced");
  const double distance = sliced_distance(points_of(golden.at("A").get<Rows>()), points_of(golden.at("B").get<Rows>()),
                                          columns_of(golden.at("directions_unnormalised").get<Rows>()));
  EXPECT_NEAR(distance, golden.at("distance").get<double>(), 1e-9);
}

ImagePlane random_plane(int64_t height, int64_t width) {
  const Philox draws(8, "test/plane");
  ImagePlane plane{.height = height, .width = width};
  for (int64_t i = 0; i < height * width; ++i)
    plane.values.push_back(std::floor(256 * draws.uniform(static_cast<uint64_t>(i))));
  return plane;
}

TEST(Pyramid, LevelsAddUpToTheImage) {
  const ImagePlane image = random_plane(32, 16);
  const std::vector<ImagePlane> pyramid = laplacian_pyramid(image, 3);
  EXPECT_EQ(pyramid[2].height, 8);
  EXPECT_EQ(pyramid[2].width, 4);
  ImagePlane sum = pyramid[2];
  for (const size_t level : {1, 0}) {
    sum = pyramid_up(sum);
    for (size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += pyramid[level].values[i];
  }
  for (size_t i = 0; i < sum.values.size(); ++i) ASSERT_NEAR(sum.values[i], image.values[i], 1e-9);
}

TEST(Pyramid, AConstantImageHasNothingButItsLastLevel) {
  const ImagePlane constant{.height = 8, .width = 8, .values = std::vector<double>(64, 7)};
  const std::vector<ImagePlane> pyramid = laplacian_pyramid(constant, 3);
  for (const double value : pyramid[0].values) EXPECT_EQ(value, 0);
  for (const double value : pyramid[1].values) EXPECT_EQ(value, 0);
  for (const double value : pyramid[2].values) EXPECT_EQ(value, 7);
}

TEST(Pyramid, RefusesWhatCannotBeHalved) {
  EXPECT_THROW(pyramid_down(random_plane(6, 5)), Error);
  EXPECT_THROW(laplacian_pyramid(random_plane(6, 6), 3), Error);
  EXPECT_THROW(laplacian_pyramid(random_plane(6, 6), 0), Error);
}

// Points of a normal distribution about `center`.
PointSet normal_points(uint32_t number, double center, size_t count = 200) {
  const Philox draws(8, "test/points", number);
  PointSet set{.dimensions = 3};
  for (size_t i = 0; i < 3 * count; ++i) set.values.push_back(center + draws.normal(i));
  return set;
}

TEST(SlicedDistance, IsADistance) {
  const PointSet directions = normal_points(99, 0, 40);  // more than a block, and not a whole number of them
  const PointSet a = normal_points(0, 0), b = normal_points(1, 0.5), c = normal_points(2, 1);
  EXPECT_EQ(sliced_distance(a, a, directions), 0);
  EXPECT_EQ(sliced_distance(a, b, directions), sliced_distance(b, a, directions));
  EXPECT_LE(sliced_distance(a, c, directions), sliced_distance(a, b, directions) + sliced_distance(b, c, directions));
  EXPECT_LT(sliced_distance(a, b, directions), sliced_distance(a, c, directions));
}

TEST(SlicedDistance, IsTheShiftAlongOneDirection) {
  const PointSet a = normal_points(0, 0), axis = {.dimensions = 3, .values = {0, 2, 0}};
  PointSet shifted = a;
  for (size_t i = 0; i < shifted.values.size(); ++i) shifted.values[i] += i % 3 == 1 ? 0.25 : 10;
  EXPECT_NEAR(sliced_distance(a, shifted, axis), 0.25, 1e-12);
}

TEST(SlicedDistance, DoesNotDependOnTheOrderOfPoints) {
  const PointSet a = normal_points(0, 0), b = normal_points(1, 0.5), directions = normal_points(99, 0, 20);
  PointSet turned = {.dimensions = 3};
  for (size_t point = 200; point-- > 0;)
    turned.values.insert(turned.values.end(), b.values.begin() + static_cast<std::ptrdiff_t>(3 * point),
                         b.values.begin() + static_cast<std::ptrdiff_t>(3 * point + 3));
  EXPECT_DOUBLE_EQ(sliced_distance(a, turned, directions), sliced_distance(a, b, directions));
}

TEST(SlicedDistance, RefusesSetsThatCannotBePaired) {
  const PointSet a = normal_points(0, 0), directions = normal_points(99, 0, 20);
  EXPECT_THROW(sliced_distance(a, normal_points(1, 0, 100), directions), Error);
  EXPECT_THROW(sliced_distance(a, {.dimensions = 2, .values = std::vector<double>(600)}, directions), Error);
  EXPECT_THROW(sliced_distance(a, a, {.dimensions = 3}), Error);
  EXPECT_THROW(sliced_distance(a, a, {.dimensions = 3, .values = {0, 0, 0}}), Error);
  PointSet broken = a;
  broken.values[4] = std::numeric_limits<double>::quiet_NaN();
  try {
    sliced_distance(a, broken, directions);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "the second set: number 1 of point 1 is nan");
  }
}

// Smooth images with noise of `roughness`.
HostTensor images_of(uint32_t number, int64_t count, int64_t side, double roughness) {
  HostTensor images(DType::f32, {count, 3, side, side});
  const auto pixels = images.as<float>();
  const Philox draws(8, "test/images", number);
  for (size_t i = 0; i < pixels.size(); ++i) {
    const auto column = static_cast<double>(i % static_cast<size_t>(side));
    pixels[i] = static_cast<float>(128 + 60 * std::sin(column / 9) + roughness * draws.normal(i));
  }
  return images;
}

TEST(SlicedWasserstein, TellsRoughFromSmoothAndNamesItself) {
  const SlicedSettings settings = {.seed = 5, .patches = 16, .directions = 32};
  const HostTensor smooth = images_of(0, 8, 64, 2);
  const SlicedWasserstein same = sliced_wasserstein(smooth, smooth, settings);
  ASSERT_EQ(same.levels.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(same.levels[i].resolution, 64 >> i);
    EXPECT_EQ(same.levels[i].distance, 0);
  }
  const SlicedWasserstein floor = sliced_wasserstein(smooth, images_of(1, 8, 64, 2), settings);
  const SlicedWasserstein far = sliced_wasserstein(smooth, images_of(2, 8, 64, 30), settings);
  EXPECT_GT(floor.mean, 0);
  EXPECT_GT(far.mean, 2 * floor.mean);
  EXPECT_NEAR(far.mean, (far.levels[0].distance + far.levels[1].distance + far.levels[2].distance) / 3, 1e-9);
  EXPECT_EQ(far.name, "sliced Wasserstein distance (n = 8, 16 patches, 32 directions)");
}

TEST(SlicedWasserstein, ScaleAndBrightnessOfASetDoNotCount) {
  const SlicedSettings settings = {.patches = 8, .directions = 20};
  const HostTensor images = images_of(0, 4, 32, 5), others = images_of(1, 4, 32, 9);
  HostTensor scaled = others;
  for (float& pixel : scaled.as<float>()) pixel = pixel / 128 - 1;
  EXPECT_NEAR(sliced_wasserstein(images, scaled, settings).mean, sliced_wasserstein(images, others, settings).mean,
              1e-3);
}

TEST(SlicedWasserstein, SmallImagesHaveOneLevel) {
  const SlicedSettings settings = {.patches = 8, .directions = 20};
  const SlicedWasserstein result = sliced_wasserstein(images_of(0, 3, 28, 5), images_of(1, 3, 28, 5), settings);
  ASSERT_EQ(result.levels.size(), 1u);
  EXPECT_EQ(result.levels[0].resolution, 28);
  EXPECT_EQ(result.name, "patch SWD (n = 3, 8 patches, 20 directions)");
}

TEST(SlicedWasserstein, ConstantImagesAreJudged) {
  const HostTensor constant(DType::f32, {4, 3, 32, 32});
  EXPECT_TRUE(
      std::isfinite(sliced_wasserstein(constant, images_of(1, 4, 32, 9), {.patches = 8, .directions = 20}).mean));
}

std::string sliced_refusal(const HostTensor& a, const HostTensor& b) {
  try {
    sliced_wasserstein(a, b, {.patches = 2, .directions = 2});
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(SlicedWasserstein, RefusesImagesThatCannotBeCompared) {
  const HostTensor images = images_of(0, 4, 32, 5);
  EXPECT_EQ(sliced_refusal(images, images_of(0, 3, 32, 5)), "sets of images (4, 3, 32, 32) and (3, 3, 32, 32)");
  EXPECT_EQ(sliced_refusal(images_of(0, 1, 6, 5), images_of(0, 1, 6, 5)),
            "a patch of 7 x 7 does not fit into (1, 3, 6, 6)");
  EXPECT_EQ(sliced_refusal(images_of(0, 1, 33, 5), images_of(0, 1, 33, 5)), "a side of 33 cannot be halved");
  HostTensor broken = images;
  broken.as<float>()[32 * 32 + 3] = std::nanf("");
  EXPECT_EQ(sliced_refusal(images, broken), "channel 1 of image 0 has a pixel of nan");
  EXPECT_THAT(sliced_refusal(HostTensor(DType::u8, {1, 3, 32, 32}), images),
              ::testing::StartsWith("expected f32 images (n, channels, side, side), got u8"));
}

}  // namespace
}  // namespace tbd
