#include "data/png_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>

#include "base/error.h"
#include "base/files.h"
#include "data/image_file.h"
#include "data/testing_images.h"

namespace tbd {
namespace {

using testing::HasSubstr;
using testing_images::picture;
using Levels = std::vector<uint8_t>;

std::span<const std::byte> png_bytes(const std::string& text) { return std::as_bytes(std::span(text)); }
Levels decoded(const std::string& png) { return decode_png(png_bytes(png)).pixels; }

// A PNG as its rows say, and what stands beside them.
struct Form {
  int64_t width = 0;
  std::vector<Levels> rows;  // as the file holds them before compression
  int colour = PNG_COLOR_TYPE_RGB, depth = 8;
  bool interlaced = false;
  std::vector<png_color> palette = {};
  Levels opacities = {};                     // of the palette
  std::optional<uint16_t> see_through = {};  // the grey level that is transparent
};

std::string png_of(Form form) {
  std::string bytes;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  const auto write = [](png_structp writer, png_bytep data, size_t count) {
    static_cast<std::string*>(png_get_io_ptr(writer))->append(reinterpret_cast<char*>(data), count);
  };
  png_set_write_fn(png, &bytes, write, nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(form.width), static_cast<png_uint_32>(form.rows.size()), form.depth,
               form.colour, form.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (!form.palette.empty()) png_set_PLTE(png, info, form.palette.data(), static_cast<int>(form.palette.size()));
  png_color_16 key{};
  if (form.see_through) key.gray = *form.see_through;
  if (!form.opacities.empty())
    png_set_tRNS(png, info, form.opacities.data(), static_cast<int>(form.opacities.size()), nullptr);
  if (form.see_through) png_set_tRNS(png, info, nullptr, 0, &key);
  png_write_info(png, info);
  std::vector<png_bytep> rows;
  for (Levels& row : form.rows) rows.push_back(row.data());
  png_write_image(png, rows.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

TEST(PngDecoder, GivesBackTheLevelsThatWereWritten) {
  const RgbImage image = picture(31, 17);
  const RgbImage back = decode_png(png_bytes(encode_png(image)));
  EXPECT_EQ(back.size, (ImageSize{31, 17}));
  EXPECT_EQ(back.pixels, image.pixels);
}

TEST(PngDecoder, GreyOfEveryDepthBecomesEqualChannels) {
  const auto grey = [](int depth, Levels row) {
    return decoded(png_of({.width = 2, .rows = {std::move(row)}, .colour = PNG_COLOR_TYPE_GRAY, .depth = depth}));
  };
  EXPECT_EQ(grey(8, {3, 200}), (Levels{3, 3, 3, 200, 200, 200}));
  EXPECT_EQ(grey(1, {0b01'000000}), (Levels{0, 0, 0, 255, 255, 255}));
  EXPECT_EQ(grey(4, {0x2F}), (Levels{0x22, 0x22, 0x22, 255, 255, 255}));
}

TEST(PngDecoder, RoundsSixteenBitsToEight) {
  const Form form{.width = 1, .rows = {{0x12, 0x34, 0x80, 0xFF, 0xFF, 0xFF}}, .depth = 16};
  EXPECT_EQ(decoded(png_of(form)), (Levels{0x12, 0x80, 0xFF}));  // 0x1234 / 257 = 18.1, 0x80FF / 257 = 128.5 - 0.001
  const Form up{.width = 1, .rows = {{0x12, 0xF0, 0, 0x80, 0, 0x81}}, .depth = 16};
  EXPECT_EQ(decoded(png_of(up)), (Levels{0x13, 0, 1}));
}

TEST(PngDecoder, LooksUpPalettesWithTheirOpacities) {
  const Form form{.width = 2,
                  .rows = {{0, 1}},
                  .colour = PNG_COLOR_TYPE_PALETTE,
                  .palette = {{10, 20, 30}, {100, 150, 255}},
                  .opacities = {255, 51}};
  EXPECT_EQ(decoded(png_of(form)), (Levels{10, 20, 30, 20, 30, 51}));
}

TEST(PngDecoder, LaysTransparentPixelsOnBlack) {
  const Form rgba{.width = 3,
                  .rows = {{200, 100, 50, 255, 200, 100, 50, 128, 200, 100, 50, 0}},
                  .colour = PNG_COLOR_TYPE_RGB_ALPHA};
  EXPECT_EQ(decoded(png_of(rgba)), (Levels{200, 100, 50, 100, 50, 25, 0, 0, 0}));
  const Form grey{.width = 1, .rows = {{200, 51}}, .colour = PNG_COLOR_TYPE_GRAY_ALPHA};
  EXPECT_EQ(decoded(png_of(grey)), (Levels{40, 40, 40}));
  const Form keyed{.width = 2, .rows = {{7, 9}}, .colour = PNG_COLOR_TYPE_GRAY, .see_through = 9};
  EXPECT_EQ(decoded(png_of(keyed)), (Levels{7, 7, 7, 0, 0, 0}));
}

TEST(PngDecoder, ReadsInterlacedImagesAsOthers) {
  const RgbImage image = picture(19, 13);
  Form form{.width = 19, .interlaced = true};
  for (int64_t y = 0; y < 13; ++y)
    form.rows.emplace_back(image.pixels.begin() + y * 57, image.pixels.begin() + (y + 1) * 57);
  EXPECT_EQ(decoded(png_of(form)), image.pixels);
}

std::string png_refusal(const std::string& bytes) {
  try {
    decode_image(png_bytes(bytes));
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::invalid);
    return e.what();
  }
  return "";
}

TEST(PngDecoder, RefusesEveryTruncationAndEveryChangedByte) {
  const RgbImage image = picture(16, 12);
  Form interlaced{.width = 16, .interlaced = true};
  for (int64_t y = 0; y < 12; ++y)
    interlaced.rows.emplace_back(image.pixels.begin() + y * 48, image.pixels.begin() + (y + 1) * 48);
  for (const std::string& png : {encode_png(image), png_of(interlaced)}) {
    ASSERT_EQ(png_refusal(png), "");
    for (size_t length = 0; length < png.size(); ++length) EXPECT_NE(png_refusal(png.substr(0, length)), "") << length;
    for (size_t at = 0; at < png.size(); ++at)
      for (const int bit : {0x01, 0x20, 0x80}) {
        std::string changed = png;
        changed[at] = static_cast<char>(changed[at] ^ bit);
        EXPECT_NE(png_refusal(changed), "") << at;
      }
  }
}

TEST(PngDecoder, NamesTheReasonForInvalidBytes) {
  const std::string png = encode_png(picture(16, 12));
  EXPECT_EQ(png_refusal(""), "the file is empty");
  EXPECT_THAT(png_refusal("text"), HasSubstr("neither PNG nor JPEG"));
  EXPECT_THAT(png_refusal(png.substr(0, png.size() - 20)), HasSubstr("truncated"));
  std::string changed = png;
  changed.back() ^= 1;
  EXPECT_THAT(png_refusal(changed), HasSubstr("CRC error"));
}

TEST(PngDecoder, RefusesAnImageTooLargeToHold) {
  const std::string bits(20'000 / 8, '\0');
  Form form{.width = 20'000, .colour = PNG_COLOR_TYPE_GRAY, .depth = 1};
  form.rows.assign(9'000, Levels(bits.begin(), bits.end()));
  EXPECT_THAT(png_refusal(png_of(form)), HasSubstr("20000 x 9000 pixels is larger than"));
}

TEST(ImageFile, IsToldByItsFirstBytesAndNamedInErrors) {
  const RgbImage image = picture(8, 8);
  EXPECT_EQ(decode_image(png_bytes(encode_jpeg(image))).size, (ImageSize{8, 8}));
  EXPECT_EQ(decode_image(png_bytes(encode_png(image))).pixels, image.pixels);
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& bytes, int64_t size) -> std::string {
    write_file(folder.path() / "a.png", bytes);
    try {
      read_square_image(folder.path() / "a.png", size);
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  };
  EXPECT_EQ(refused(encode_png(image), 8), "");
  EXPECT_THAT(refused(encode_png(image), 16), HasSubstr("a.png: an image of 8 x 8 pixels, not of 16 x 16"));
  EXPECT_THAT(refused(encode_png(picture(8, 9)), 8), HasSubstr("a.png: an image of 8 x 9 pixels, not of 8 x 8"));
  EXPECT_THAT(refused("text", 8), HasSubstr("a.png: neither PNG nor JPEG"));
}

}  // namespace
}  // namespace tbd
