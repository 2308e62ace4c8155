#include "worker/image_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/philox.h"
#include "data/png_decoder.h"
#include "quality/sliced_wasserstein.h"
#include "record/pictures.h"
#include "worker/sample_rows.h"

namespace tbd {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Key;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

HostTensor scores(const std::vector<float>& values) {
  return HostTensor(DType::f32, {std::ssize(values), 1}, std::span<const float>(values));
}
// Noise from -0.5 to 0.5, by its seed.
HostTensor noise(int64_t count, int64_t side, uint64_t seed) {
  HostTensor images(DType::f32, {count, 3, side, side});
  const Philox stream = Philox(seed, "images").at(1, 0);
  for (size_t i = 0; i < images.as<float>().size(); ++i)
    images.as<float>()[i] = static_cast<float>(stream.uniform(i) - 0.5);
  return images;
}
HostTensor grey(int64_t count, int64_t side, float value) {
  HostTensor images(DType::f32, {count, 3, side, side});
  std::ranges::fill(images.as<float>(), value);
  return images;
}
TensorMap answers(const HostTensor& fake, const HostTensor& of_real, const HostTensor& of_fake) {
  return {{"fake", fake}, {"d_real", of_real}, {"d_fake", of_fake}};
}
TensorMap answers(const HostTensor& fake) {
  const HostTensor none(DType::f32, {fake.shape()[0], 1});
  return answers(fake, none, none);
}

TEST(ImageJudge, EstimatesTheDistanceByTheCriticsMeans) {
  const auto judge = image_judge();
  const HostTensor images = grey(2, 8, 0);
  judge->add({{"real", images}}, answers(images, scores({3, 5}), scores({1, -1})), 2);
  judge->add({{"real", images}}, answers(images, scores({2, 99}), scores({-2, 99})), 1);  // the second row fills
  EXPECT_THAT(judge->metrics().at("critic_distance"), DoubleNear(10.0 / 3 - -2.0 / 3, 1e-12));
}

TEST(ImageJudge, FindsRealImagesAtNoDistance) {
  const auto judge = image_judge();
  HostTensor images = noise(6, 32, 1);
  for (size_t i = images.as<float>().size() / 6; i < images.as<float>().size(); ++i)
    images.as<float>()[i] = images.as<float>()[i % (images.as<float>().size() / 6)];
  judge->add({{"real", images}}, answers(images), 6);
  const auto found = judge->metrics();
  EXPECT_EQ(found.at("swd"), 0);
  EXPECT_EQ(found.at("swd_32"), 0);
  EXPECT_EQ(found.at("swd_16"), 0);
  EXPECT_EQ(found.at("swd_floor"), 0) << "all are alike";
  EXPECT_EQ(found.at("swd_images"), 3) << "half the set";
}

TEST(ImageJudge, FindsOtherImagesBeyondTheFloor) {
  const auto judge = image_judge();
  judge->add({{"real", noise(8, 32, 1)}}, answers(grey(8, 32, 0.25F)), 8);
  const auto found = judge->metrics();
  EXPECT_GT(found.at("swd"), 2 * found.at("swd_floor"));
}

TEST(ImageJudge, SaysPatchSwdOfSmallImages) {
  const auto judge = image_judge();
  judge->add({{"real", noise(2, 16, 1)}}, answers(noise(2, 16, 2)), 2);
  EXPECT_THAT(judge->metrics(), UnorderedElementsAre(Key("critic_distance"), Key("patch_swd"), Key("patch_swd_floor"),
                                                     Pair("patch_swd_images", 1)));
}

TEST(ImageJudge, ComparesABoundedNumber) {
  const auto judge = image_judge();
  const int64_t count = 2 * kComparedImages + 6;
  judge->add({{"real", noise(count, 8, 1)}}, answers(noise(count, 8, 2)), count);
  EXPECT_EQ(judge->metrics().at("patch_swd_images"), kComparedImages);
}

// The first half of the set is of stripes, the second of noise: halves in the set's order would be far from each other.
TEST(ImageJudge, MixesTheHeldOutImagesWhateverTheBatches) {
  constexpr int64_t kCount = 64;
  HostTensor real = noise(kCount, 8, 1);
  const auto pixels = real.as<float>();
  for (size_t i = 0; i < pixels.size() / 2; ++i) pixels[i] = i % 2 == 0 ? 0.5F : -0.5F;
  const HostTensor made = noise(kCount, 8, 2);
  const auto once = image_judge(), twice = image_judge();
  once->add({{"real", real}}, answers(made), kCount);
  for (const int64_t begin : {int64_t{0}, kCount / 2})
    twice->add({{"real", sample_rows(real, begin, kCount / 2)}}, answers(sample_rows(made, begin, kCount / 2)),
               kCount / 2);
  EXPECT_EQ(once->metrics(), twice->metrics());
  const HostTensor stripes = sample_rows(real, 0, kCount / 2), other = sample_rows(real, kCount / 2, kCount / 2);
  EXPECT_LT(3 * once->metrics().at("patch_swd_floor"), sliced_wasserstein(stripes, other).mean);
}

TEST(ImageJudge, ShowsMadeAndRealImagesAsSheets) {
  const auto judge = image_judge();
  judge->add({{"real", grey(9, 16, -1)}}, answers(grey(9, 16, 1)), 9);
  const std::vector<Picture> sheets = judge->pictures(4);
  ASSERT_EQ(sheets.size(), 2U);
  EXPECT_EQ(sheets[0].file, "generated.png");
  EXPECT_EQ(sheets[0].caption, "9 images of 16 x 16 pixels");
  const RgbImage sheet = decode_png(std::as_bytes(std::span(sheets[0].png)));
  EXPECT_THAT((std::array{sheet.size.width, sheet.size.height}), ElementsAre(8 * 64, 2 * 64));
  const auto pixel = [&](int64_t x, int64_t y) { return sheet.pixels[static_cast<size_t>((y * 512 + x) * 3)]; };
  EXPECT_EQ(pixel(511, 63), 255);
  EXPECT_EQ(pixel(63, 127), 255) << "the ninth";
  EXPECT_EQ(pixel(64, 127), 0) << "no tenth";
  EXPECT_EQ(judge->pictures(1).size(), 1U);
}

}  // namespace
}  // namespace tbd
