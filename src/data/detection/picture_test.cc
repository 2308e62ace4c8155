#include "data/detection/picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "data/detection/bitmap_font.h"
#include "data/png_decoder.h"
#include "data/png_encoder.h"
#include "data/testing_images.h"

namespace tbd {
namespace {

using ::testing::ElementsAre;

constexpr std::array<uint8_t, 3> kGrey = {100, 100, 100};

RgbImage plain(int64_t width, int64_t height) {
  RgbImage image{.size = {width, height}};
  for (int64_t i = 0; i < 3 * width * height; ++i) image.pixels.push_back(kGrey[0]);
  return image;
}
std::array<uint8_t, 3> pixel(const RgbImage& image, int64_t x, int64_t y) {
  const uint8_t* at = image.pixels.data() + 3 * (y * image.size.width + x);
  return {at[0], at[1], at[2]};
}

// '.' an untouched pixel, '#' the colour of category 0, '@' ink, 'm' anything else, which is a mask's.
std::string drawn(const RgbImage& image) {
  std::string text = "\n";
  for (int64_t y = 0; y < image.size.height; ++y) {
    for (int64_t x = 0; x < image.size.width; ++x) {
      const std::array<uint8_t, 3> colour = pixel(image, x, y);
      text += colour == kGrey                                 ? '.'
              : colour == std::array<uint8_t, 3>{230, 159, 0} ? '#'
              : colour == std::array<uint8_t, 3>{0, 0, 0}     ? '@'
                                                              : 'm';
    }
    text += '\n';
  }
  return text;
}

TEST(DetectionPicture, HasMaskFrameAndLabel) {
  const RunLengths mask = polygon_mask(std::vector<double>{4, 12, 9, 12, 9, 17, 4, 17}, 20, 24);
  const RgbImage image = draw_objects(plain(24, 20), std::vector<DrawnObject>{{{2, 10, 16, 18}, "A1", {}, 0, mask}});
  EXPECT_EQ(drawn(image), R"(
........................
..#############.........
..###@#####@###.........
..##@#@###@@###.........
..#@###@#@#@###.........
..#@###@###@###.........
..#@@@@@###@###.........
..#@###@###@###.........
..#@###@#@@@@@#.........
..#############.........
..##############........
..#............#........
..#.mmmmm......#........
..#.mmmmm......#........
..#.mmmmm......#........
..#.mmmmm......#........
..#.mmmmm......#........
..##############........
........................
........................
)");
}

TEST(DetectionPicture, TintsBehindAMask) {
  const RunLengths all{4, 4, {0, 16}};
  const RgbImage image = draw_objects(plain(4, 4), std::vector<DrawnObject>{{{0, 0, 0, 0}, "", {}, 1, all}});
  // (100 * 141 + colour * 115 + 128) / 256 of (86, 180, 233)
  EXPECT_THAT(pixel(image, 2, 2), ElementsAre(94, 136, 160));
}

TEST(DetectionPicture, KeepsLabelsInTheImage) {
  const RgbImage image = draw_objects(plain(24, 20), std::vector<DrawnObject>{{{18, 2, 40, 15}, "i", 0.999, 0, {}}});
  // No room above nor to the right: "i 100%" begins at the left edge and is cut off at the right one. So is the box.
  EXPECT_EQ(drawn(image), R"(
........................
........................
########################
#@@@@@#########@####@@@#
###@##########@@###@###@
###@#########@#@###@###@
###@###########@###@#@#@
###@###########@###@###@
###@###########@###@###@
#@@@@@#######@@@@@##@@@#
########################
..................#....#
..................#....#
..................#....#
..................######
........................
........................
........................
........................
........................
)");
}

TEST(DetectionPicture, UndoesTheNormalisation) {
  const RgbImage image = testing_images::picture(5, 3);
  const Normalisation normalisation;
  std::vector<float> input;
  for (size_t c = 0; c < 3; ++c)
    for (size_t i = 0; i < 15; ++i)
      input.push_back((static_cast<float>(image.pixels[3 * i + c]) / 255 - normalisation.mean[c]) /
                      normalisation.deviation[c]);
  EXPECT_EQ(image_of_input(input, {5, 3}).pixels, image.pixels);
  input[0] = std::numeric_limits<float>::quiet_NaN();
  input[1] = 1e30f;
  const RgbImage odd = image_of_input(input, {5, 3});
  EXPECT_EQ(odd.pixels[0], 0);
  EXPECT_EQ(odd.pixels[3], 255);
  EXPECT_THROW(image_of_input(input, {3, 3}), Error);
}

TEST(DetectionPicture, SurvivesAsPng) {
  const RgbImage image =
      draw_objects(testing_images::picture(90, 60), std::vector<DrawnObject>{{{10, 20, 60, 50}, "cat", 0.5, 3, {}}});
  const std::string png = encode_png(image);
  EXPECT_EQ(decode_png(std::as_bytes(std::span(png))).pixels, image.pixels);
}

TEST(DetectionPicture, RefusesWhatDoesNotFit) {
  const auto said = [](const DrawnObject& object) -> std::string {
    try {
      draw_objects(plain(24, 20), std::vector<DrawnObject>{{}, object});
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(said({{0, 0, NAN, 1}, "", {}, 0, {}}), "object 1: the box has the edge nan");
  EXPECT_EQ(said({{0, 0, 1, 1}, "", {}, 0, {3, 4, {12}}}), "object 1: the mask has 4 x 3 pixels, the image 24 x 20");
  EXPECT_EQ(said({{0, 0, 1, 1}, "", {}, 0, {20, 24, {12}}}),
            "object 1: run lengths sum to 12, but 20 x 24 pixels are 480");
  EXPECT_EQ(said({{-1e30f, -5, 1e30f, 5}, "x", {}, 0, {}}), "");
}

TEST(BitmapFont, TellsLettersApart) {
  const std::string letters = " %&'()+,-./0123456789:ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  for (size_t i = 0; i < letters.size(); ++i)
    for (size_t j = 0; j < i; ++j) EXPECT_NE(glyph_of(letters[i]), glyph_of(letters[j])) << letters[i] << letters[j];
  EXPECT_EQ(glyph_of('q'), glyph_of('Q'));
  EXPECT_EQ(glyph_of('\xe9'), glyph_of('~'));  // the frame
  EXPECT_NE(glyph_of('~'), glyph_of('O'));
}

}  // namespace
}  // namespace tbd
