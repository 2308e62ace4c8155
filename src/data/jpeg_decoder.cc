#include "data/jpeg_decoder.h"

#include <algorithm>
#include <cmath>

#include "data/axis_filter.h"
#include "data/jpeg_handle.h"
#include "data/resampler.h"

namespace tbd {
namespace {

// Columns decoded beside the crop, so that smooth chroma upsampling sees the neighbours it sees in a full decode.
constexpr int64_t kMargin = 2;

// The end marker, searched backwards down to the end of the header: entropy-coded data cannot contain it.
bool has_end_marker(std::span<const std::byte> jpeg, size_t header) {
  for (size_t i = jpeg.size(); i >= header + 2; --i)
    if (jpeg[i - 2] == std::byte{0xFF} && jpeg[i - 1] == std::byte{JPEG_EOI}) return true;
  return false;
}

// The largest reduction in the DCT domain that leaves `part` at least as large as `least`. Only powers of two have
// fast inverse transforms.
int64_t reduction(double width, double height, ImageSize least) {
  for (const int64_t n : {8, 4, 2}) {
    const auto d = static_cast<double>(n);
    if (width / d >= static_cast<double>(least.width) && height / d >= static_cast<double>(least.height)) return n;
  }
  return 1;
}

// Adobe stores CMYK inverted: 255 is no ink.
void cmyk_to_rgb(const uint8_t* cmyk, int64_t count, bool inverted, uint8_t* rgb) {
  const auto light = [&](uint8_t ink) { return inverted ? ink : 255 - ink; };
  for (int64_t i = 0; i < count; ++i)
    for (int c = 0; c < 3; ++c)
      rgb[3 * i + c] = static_cast<uint8_t>((light(cmyk[4 * i + c]) * light(cmyk[4 * i + 3]) + 127) / 255);
}

}  // namespace

class JpegDecoder::Impl {
 public:
  ImageSize open(std::span<const std::byte> jpeg) {
    require(!jpeg.empty(), "the file is empty");
    handle_.restart(jpeg);
    const ImageSize size{info_.image_width, info_.image_height};
    require(size.width * size.height <= kMaxPixels, "an image of ", size.width, " x ", size.height,
            " pixels is larger than ", kMaxPixels, " pixels");
    require(has_end_marker(jpeg, jpeg.size() - info_.src->bytes_in_buffer), "truncated: no end-of-image marker");
    return size;
  }

  void read(const CropPlan& plan, const Normalisation& normalisation, std::span<float> out) {
    const int64_t n = reduction(plan.window.width, plan.window.height, plan.output);
    start(n);
    const auto d = static_cast<double>(n);
    const auto axis = [&](double from, double extent, int64_t output, int64_t low, int64_t high, int64_t size) {
      return triangle_filter(from / d, extent / d, output, low / n, std::min((high + n - 1) / n, size));
    };
    const Window& w = plan.window;
    const AxisFilter vertical =
        axis(w.top, w.height, plan.output.height, plan.readable.top, plan.readable.bottom, info_.output_height);
    AxisFilter horizontal =
        axis(w.left, w.width, plan.output.width, plan.readable.left, plan.readable.right, info_.output_width);
    const int64_t offset = crop_columns(horizontal);
    for (int64_t& first : horizontal.first) first -= offset;
    horizontal.begin -= offset;
    horizontal.end -= offset;
    skip_rows(vertical.begin);
    resampler_.run(
        vertical, plan.flip ? mirrored(horizontal) : horizontal, info_.output_width,
        [this](uint8_t* rgb) { read_row(rgb); }, normalisation, out);
    handle_.abort();
  }

  RgbImage image(ImageSize least) {
    start(reduction(info_.image_width, info_.image_height, least));
    RgbImage image{.size = {info_.output_width, info_.output_height}};
    image.pixels.resize(static_cast<size_t>(3 * image.size.width * image.size.height));
    for (int64_t y = 0; y < image.size.height; ++y) read_row(image.pixels.data() + y * 3 * image.size.width);
    handle_.abort();
    return image;
  }

 private:
  void start(int64_t reduction) {
    const bool inks = info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
    info_.out_color_space = inks ? JCS_CMYK : JCS_RGB;
    info_.scale_num = 1;
    info_.scale_denom = static_cast<unsigned>(reduction);
    handle_.guarded([this] { jpeg_start_decompress(&info_); });
    inks_.resize(inks ? 4 * info_.output_width : 0);
  }

  // Decodes the columns that `horizontal` reads and few others; the first decoded column.
  int64_t crop_columns(const AxisFilter& horizontal) {
    auto left = static_cast<JDIMENSION>(std::max<int64_t>(0, horizontal.begin - kMargin));
    auto width = static_cast<JDIMENSION>(std::min<int64_t>(info_.output_width, horizontal.end + kMargin)) - left;
    if (width < info_.output_width) handle_.guarded([&] { jpeg_crop_scanline(&info_, &left, &width); });
    return left;
  }

  void skip_rows(int64_t count) {
    if (count > 0) handle_.guarded([&] { jpeg_skip_scanlines(&info_, static_cast<JDIMENSION>(count)); });
  }

  void read_row(uint8_t* rgb) {
    uint8_t* row = inks_.empty() ? rgb : inks_.data();
    handle_.guarded([&] { jpeg_read_scanlines(&info_, &row, 1); });
    if (!inks_.empty()) cmyk_to_rgb(inks_.data(), info_.output_width, info_.saw_Adobe_marker, rgb);
  }

  JpegHandle handle_;
  jpeg_decompress_struct& info_ = handle_.info();
  std::vector<uint8_t> inks_;  // one row of a CMYK image, else empty
  Resampler resampler_;
};

JpegDecoder::JpegDecoder() : impl_(std::make_unique<Impl>()) {}
JpegDecoder::~JpegDecoder() = default;
JpegDecoder::JpegDecoder(JpegDecoder&&) noexcept = default;
JpegDecoder& JpegDecoder::operator=(JpegDecoder&&) noexcept = default;

ImageSize JpegDecoder::open(std::span<const std::byte> jpeg) { return impl_->open(jpeg); }
void JpegDecoder::read(const CropPlan& plan, const Normalisation& normalisation, std::span<float> out) {
  impl_->read(plan, normalisation, out);
}
RgbImage JpegDecoder::image(ImageSize least) { return impl_->image(least); }

std::vector<float> decode_jpeg(std::span<const std::byte> jpeg, const CropPlan& plan,
                               const Normalisation& normalisation) {
  JpegDecoder decoder;
  const ImageSize size = decoder.open(jpeg);
  const PixelRect& box = plan.readable;
  const Window& w = plan.window;
  require(box.left >= 0 && box.top >= 0 && box.right <= size.width && box.bottom <= size.height && w.left >= 0 &&
              w.top >= 0 && w.left + w.width <= static_cast<double>(size.width) &&
              w.top + w.height <= static_cast<double>(size.height),
          "the crop does not lie inside the image of ", size.width, " x ", size.height, " pixels");
  std::vector<float> out(static_cast<size_t>(3 * plan.output.height * plan.output.width));
  decoder.read(plan, normalisation, out);
  return out;
}

}  // namespace tbd
