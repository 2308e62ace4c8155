#include "data/png_decoder.h"

#include <png.h>

#include <csetjmp>
#include <cstring>

#include "base/error.h"

namespace tbd {
namespace {

// libpng's reader with its errors turned into Error.
class PngReader {
 public:
  explicit PngReader(std::span<const std::byte> png) : rest_(png) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
    if (!info_) png_destroy_read_struct(&png_, nullptr, nullptr);
    require(info_, "libpng cannot begin to read");
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  ImageSize open() {
    guarded([this] {
      png_set_read_fn(png_, this, read);
      png_set_crc_action(png_, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
      png_read_info(png_, info_);
    });
    return {png_get_image_width(png_, info_), png_get_image_height(png_, info_)};
  }

  // [height, width, 4]: RGB and opacity.
  std::vector<uint8_t> pixels(ImageSize size) {
    guarded([this] { convert_to_rgba(); });
    const auto stride = static_cast<size_t>(4 * size.width);
    require(png_get_rowbytes(png_, info_) == stride, "a PNG of an unknown form");
    std::vector<uint8_t> pixels(stride * static_cast<size_t>(size.height));
    std::vector<png_bytep> rows;
    for (int64_t y = 0; y < size.height; ++y) rows.push_back(pixels.data() + static_cast<size_t>(y) * stride);
    guarded([&] {
      png_read_image(png_, rows.data());
      png_read_end(png_, nullptr);
    });
    return pixels;
  }

 private:
  // Runs calls of libpng alone, no objects with destructors: an error jumps out of them.
  template <class Call>
  void guarded(const Call& call) {
    if (setjmp(jump_) == 0)
      call();
    else
      fail(ErrorKind::invalid, message_);
  }

  void convert_to_rgba() {
    const bool opaque =
        !(png_get_color_type(png_, info_) & PNG_COLOR_MASK_ALPHA) && !png_get_valid(png_, info_, PNG_INFO_tRNS);
    png_set_expand(png_);
    png_set_scale_16(png_);
    png_set_gray_to_rgb(png_);
    if (opaque) png_set_add_alpha(png_, 255, PNG_FILLER_AFTER);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
  }

  static void read(png_structp png, png_bytep out, size_t count) {
    auto& rest = static_cast<PngReader*>(png_get_io_ptr(png))->rest_;
    if (count > rest.size()) png_error(png, "truncated: the file ends inside the image");
    std::memcpy(out, rest.data(), count);
    rest = rest.subspan(count);
  }
  static void on_error(png_structp png, png_const_charp message) {
    auto* self = static_cast<PngReader*>(png_get_error_ptr(png));
    std::strncpy(self->message_, message, sizeof self->message_ - 1);
    std::longjmp(self->jump_, 1);
  }
  static void on_warning(png_structp, png_const_charp) {}

  std::span<const std::byte> rest_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::jmp_buf jump_;
  char message_[256] = {};
};

}  // namespace

RgbaImage decode_png_with_opacity(std::span<const std::byte> png) {
  require(!png.empty(), "the file is empty");
  PngReader reader(png);
  const ImageSize size = reader.open();
  require(size.width * size.height <= JpegDecoder::kMaxPixels, "an image of ", size.width, " x ", size.height,
          " pixels is larger than ", JpegDecoder::kMaxPixels, " pixels");
  return {.size = size, .pixels = reader.pixels(size)};
}

RgbImage decode_png(std::span<const std::byte> png) {
  const auto [size, rgba] = decode_png_with_opacity(png);
  RgbImage image{.size = size};
  image.pixels.reserve(rgba.size() / 4 * 3);
  for (size_t i = 0; i < rgba.size(); i += 4)
    for (size_t c = 0; c < 3; ++c)
      image.pixels.push_back(static_cast<uint8_t>((rgba[i + c] * rgba[i + 3] + 127) / 255));
  return image;
}

}  // namespace tbd
