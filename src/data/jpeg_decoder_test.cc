#include "data/jpeg_decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

#include "base/error.h"
#include "data/axis_filter.h"
#include "data/testing_images.h"

namespace tbd {
namespace {

using testing_images::picture;

constexpr Normalisation kLevels{{0, 0, 0}, {1 / 255.f, 1 / 255.f, 1 / 255.f}};  // values stay 0 to 255

std::span<const std::byte> jpeg_bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

CropPlan plan_of(PixelRect box, ImageSize output, bool flip = false) {
  return {.window = {static_cast<double>(box.left), static_cast<double>(box.top),
                     static_cast<double>(box.right - box.left), static_cast<double>(box.bottom - box.top)},
          .readable = box,
          .output = output,
          .flip = flip};
}

RgbImage whole(const std::string& jpeg) {
  JpegDecoder decoder;
  return decoder.image(decoder.open(jpeg_bytes(jpeg)));
}

// The crop by definition: every pixel of the fully decoded image, weighed in double.
class Reference {
 public:
  Reference(const RgbImage& image, const CropPlan& plan)
      : image_(image),
        rows_(triangle_filter(plan.window.top, plan.window.height, plan.output.height, plan.readable.top,
                              plan.readable.bottom)),
        columns_(triangle_filter(plan.window.left, plan.window.width, plan.output.width, plan.readable.left,
                                 plan.readable.right)) {}
  double at(int64_t c, int64_t i, int64_t j) const {
    double sum = 0;
    for (int64_t k = 0; k < rows_.taps; ++k)
      for (int64_t l = 0; l < columns_.taps; ++l) {
        const int64_t pixel = (rows_.first[i] + k) * image_.size.width + columns_.first[j] + l;
        sum += double{rows_.row(i)[k]} * columns_.row(j)[l] * image_.pixels[static_cast<size_t>(3 * pixel + c)];
      }
    return sum;
  }

 private:
  const RgbImage& image_;
  AxisFilter rows_, columns_;
};

double largest_difference(const std::string& jpeg, const CropPlan& plan) {
  const RgbImage image = whole(jpeg);
  const std::vector<float> crop = decode_jpeg(jpeg_bytes(jpeg), plan, kLevels);
  const Reference reference(image, plan);
  double largest = 0;
  for (int64_t c = 0, n = 0; c < 3; ++c)
    for (int64_t i = 0; i < plan.output.height; ++i)
      for (int64_t j = 0; j < plan.output.width; ++j, ++n) {
        const int64_t column = plan.flip ? plan.output.width - 1 - j : j;
        const double expected = reference.at(c, i, column);
        largest = std::max(largest, std::abs(expected - crop[static_cast<size_t>(n)]));
      }
  return largest;
}

constexpr PixelRect kBoxes[] = {{0, 0, 200, 150}, {31, 17, 150, 120},  {16, 16, 80, 64},
                                {1, 1, 9, 9},     {150, 90, 200, 150}, {199, 149, 200, 150}};

TEST(JpegDecoder, DecodingACropAloneEqualsCroppingTheFullDecode) {
  const RgbImage image = picture(200, 150);
  for (const JpegOptions& options : {JpegOptions{}, JpegOptions{.chroma_subsampling = false},
                                     JpegOptions{.progressive = true}, JpegOptions{.grey = true}})
    for (const PixelRect& box : kBoxes)
      EXPECT_LT(largest_difference(encode_jpeg(image, options), plan_of(box, {112, 84})), 1e-3)
          << box.left << " " << box.top << " grey " << options.grey << " progressive " << options.progressive;
}

TEST(JpegDecoder, FlipMirrorsTheOutput) {
  const std::string jpeg = encode_jpeg(picture(200, 150));
  EXPECT_LT(largest_difference(jpeg, plan_of(kBoxes[1], {63, 41}, true)), 1e-3);
}

TEST(JpegDecoder, UnscaledCropCopiesPixelsExactly) {
  const std::string jpeg = encode_jpeg(picture(100, 80), {.quality = 95});
  const RgbImage image = whole(jpeg);
  const std::vector<float> crop = decode_jpeg(jpeg_bytes(jpeg), plan_of({10, 20, 50, 60}, {40, 40}), kLevels);
  for (int64_t i = 0; i < 40; ++i)
    for (int64_t j = 0; j < 40; ++j)
      EXPECT_NEAR(crop[static_cast<size_t>(40 * i + j)],
                  image.pixels[static_cast<size_t>(3 * ((20 + i) * 100 + 10 + j))], 1e-3);
}

TEST(JpegDecoder, NormalisesByChannel) {
  const std::string jpeg = encode_jpeg(picture(64, 64));
  const CropPlan plan = plan_of({0, 0, 64, 64}, {8, 8});
  const std::vector<float> levels = decode_jpeg(jpeg_bytes(jpeg), plan, kLevels),
                           out = decode_jpeg(jpeg_bytes(jpeg), plan);
  const double mean[] = {.485, .456, .406}, deviation[] = {.229, .224, .225};
  for (size_t i = 0; i < out.size(); ++i)
    EXPECT_NEAR(out[i], (levels[i] / 255.0 - mean[i / 64]) / deviation[i / 64], 1e-4);
}

TEST(JpegDecoder, ACropFarLargerThanItsOutputIsReducedWhileDecoding) {
  RgbImage smooth = picture(800, 640);
  for (int64_t y = 0; y < 640; ++y)
    for (int64_t x = 0; x < 800; ++x)
      smooth.pixels[static_cast<size_t>(3 * (y * 800 + x))] = static_cast<uint8_t>(x / 4);
  const std::string jpeg = encode_jpeg(smooth, {.quality = 98});
  const CropPlan plan = plan_of({40, 24, 760, 600}, {90, 90});
  const RgbImage image = whole(jpeg);
  const std::vector<float> crop = decode_jpeg(jpeg_bytes(jpeg), plan, kLevels);
  const Reference reference(image, plan);
  for (int64_t i = 5; i < 85; i += 16)
    for (int64_t j = 5; j < 85; j += 16)
      EXPECT_NEAR(crop[static_cast<size_t>(i * 90 + j)], reference.at(0, i, j), 3) << i << " " << j;
}

TEST(JpegDecoder, ImageIsReducedToTheSmallestThatIsLargeEnough) {
  const std::string jpeg = encode_jpeg(picture(400, 320));
  JpegDecoder decoder;
  decoder.open(jpeg_bytes(jpeg));
  EXPECT_EQ(decoder.image({200, 160}).size, (ImageSize{200, 160}));
  decoder.open(jpeg_bytes(jpeg));
  EXPECT_EQ(decoder.image({101, 80}).size, (ImageSize{200, 160}));
}

std::string cmyk_jpeg(const uint8_t (&ink)[4]) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long count = 0;
  jpeg_mem_dest(&info, &bytes, &count);
  info.image_width = info.image_height = 16;
  info.input_components = 4;
  info.in_color_space = JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 100, TRUE);
  jpeg_start_compress(&info, TRUE);
  std::vector<uint8_t> row;
  for (int x = 0; x < 16; ++x) row.insert(row.end(), ink, ink + 4);
  for (int y = 0; y < 16; ++y) {
    JSAMPROW at = row.data();
    jpeg_write_scanlines(&info, &at, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::string jpeg(reinterpret_cast<char*>(bytes), count);
  std::free(bytes);
  return jpeg;
}

TEST(JpegDecoder, ConvertsInvertedAdobeCmykToRgb) {
  // Light through each ink, as Adobe stores it, times light through black.
  const std::vector<float> out =
      decode_jpeg(jpeg_bytes(cmyk_jpeg({200, 100, 50, 128})), plan_of({0, 0, 16, 16}, {1, 1}), kLevels);
  EXPECT_NEAR(out[0], 200 * 128 / 255.0, 2);
  EXPECT_NEAR(out[1], 100 * 128 / 255.0, 2);
  EXPECT_NEAR(out[2], 50 * 128 / 255.0, 2);
}

std::string jpeg_refusal(const std::string& bytes) {
  try {
    decode_jpeg(jpeg_bytes(bytes), plan_of({0, 0, 64, 48}, {16, 16}));
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(JpegDecoder, NamesTheReasonForInvalidBytes) {
  const std::string jpeg = encode_jpeg(picture(64, 48));
  EXPECT_EQ(jpeg_refusal(jpeg), "");
  EXPECT_EQ(jpeg_refusal(""), "the file is empty");
  EXPECT_NE(jpeg_refusal("this is text, not a picture").find("Not a JPEG file"), std::string::npos);
  EXPECT_NE(jpeg_refusal("\x89PNG\r\n\x1a\n").find("Not a JPEG file"), std::string::npos);
  EXPECT_NE(jpeg_refusal(jpeg.substr(0, 2)), "");
  EXPECT_NE(jpeg_refusal(jpeg.substr(0, 100)), "");
}

TEST(JpegDecoder, RefusesEveryTruncation) {
  for (const bool progressive : {false, true}) {
    const std::string jpeg = encode_jpeg(picture(64, 48), {.progressive = progressive});
    for (size_t length = 0; length < jpeg.size(); length += 7)
      EXPECT_NE(jpeg_refusal(jpeg.substr(0, length)), "") << length;
    EXPECT_NE(jpeg_refusal(jpeg.substr(0, jpeg.size() - 1)), "");
  }
}

TEST(JpegDecoder, RefusesATruncationBelowTheCrop) {
  const std::string jpeg = encode_jpeg(picture(64, 400));
  const CropPlan top = plan_of({0, 0, 64, 16}, {16, 16});
  EXPECT_NO_THROW(decode_jpeg(jpeg_bytes(jpeg), top));
  EXPECT_THROW(decode_jpeg(jpeg_bytes(jpeg.substr(0, jpeg.size() * 9 / 10)), top), Error);
  EXPECT_THROW(decode_jpeg(jpeg_bytes(jpeg.substr(0, jpeg.size() - 2)), top), Error);
}

TEST(JpegDecoder, RefusesAHoleInTheDataEvenWithAnEndMarker) {
  const std::string jpeg = encode_jpeg(picture(64, 48));
  const std::string cut = jpeg.substr(0, jpeg.size() / 2) + "\xFF\xD9";
  EXPECT_NE(jpeg_refusal(cut).find("premature end"), std::string::npos) << jpeg_refusal(cut);
}

TEST(JpegDecoder, IsUsableAfterAnError) {
  const std::string good = encode_jpeg(picture(64, 48)), bad = good.substr(0, 300);
  JpegDecoder decoder;
  std::vector<float> out(3 * 16 * 16);
  EXPECT_THROW(decoder.open(jpeg_bytes(bad)), Error);
  decoder.open(jpeg_bytes(good));
  decoder.read(plan_of({0, 0, 64, 48}, {16, 16}), {}, out);
  EXPECT_EQ(out, decode_jpeg(jpeg_bytes(good), plan_of({0, 0, 64, 48}, {16, 16})));
}

TEST(JpegDecoder, RefusesAnImageTooLargeToHold) {
  std::string jpeg = encode_jpeg(picture(64, 48));
  const size_t frame = jpeg.find("\xFF\xC0");
  ASSERT_NE(frame, std::string::npos);
  for (size_t i = 5; i < 9; ++i) jpeg[frame + i] = '\x7f';  // 32639 x 32639
  EXPECT_NE(jpeg_refusal(jpeg).find("32639"), std::string::npos) << jpeg_refusal(jpeg);
}

TEST(JpegDecoder, RefusesACropOutsideOfTheImage) {
  const std::string jpeg = encode_jpeg(picture(32, 32));
  EXPECT_THROW(decode_jpeg(jpeg_bytes(jpeg), plan_of({0, 0, 33, 32}, {8, 8})), Error);
}

}  // namespace
}  // namespace tbd
