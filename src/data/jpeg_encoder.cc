#include "data/jpeg_encoder.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

#include "base/error.h"

namespace tbd {
namespace {

struct Errors {
  jpeg_error_mgr base;  // first: libjpeg hands it back as a pointer to this
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

void on_error(j_common_ptr info) {
  auto* errors = reinterpret_cast<Errors*>(info->err);
  info->err->format_message(info, errors->message);
  std::longjmp(errors->jump, 1);
}

void configure(jpeg_compress_struct& info, ImageSize size, const JpegOptions& options) {
  info.image_width = static_cast<JDIMENSION>(size.width);
  info.image_height = static_cast<JDIMENSION>(size.height);
  info.input_components = options.grey ? 1 : 3;
  info.in_color_space = options.grey ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, options.quality, TRUE);
  info.optimize_coding = TRUE;
  if (!options.grey && !options.chroma_subsampling)
    info.comp_info[0].h_samp_factor = info.comp_info[0].v_samp_factor = 1;
  if (options.progressive) jpeg_simple_progression(&info);
}

std::vector<uint8_t> grey_pixels(const RgbImage& image) {
  std::vector<uint8_t> grey(image.pixels.size() / 3);
  for (size_t i = 0; i < grey.size(); ++i) {
    const uint8_t* p = image.pixels.data() + 3 * i;
    grey[i] = static_cast<uint8_t>((p[0] + p[1] + p[2]) / 3);
  }
  return grey;
}

// No objects with destructors here: an error jumps out.
bool write_compressed(const uint8_t* pixels, ImageSize size, const JpegOptions& options, Errors& errors,
                      unsigned char** bytes, unsigned long* count) {
  jpeg_compress_struct info{};
  info.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = on_error;
  if (setjmp(errors.jump) != 0) {
    jpeg_destroy_compress(&info);
    return false;
  }
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, bytes, count);
  configure(info, size, options);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<JSAMPROW>(pixels + static_cast<size_t>(info.next_scanline) * info.image_width *
                                                  static_cast<size_t>(info.input_components));
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  return true;
}

}  // namespace

std::string encode_jpeg(const RgbImage& image, const JpegOptions& options) {
  require(static_cast<int64_t>(image.pixels.size()) == 3 * image.size.width * image.size.height, "an image of ",
          image.size.width, " x ", image.size.height, " pixels has ", image.pixels.size(), " bytes");
  std::vector<uint8_t> grey;
  if (options.grey) grey = grey_pixels(image);
  Errors errors{};
  unsigned char* bytes = nullptr;
  unsigned long count = 0;
  const bool done =
      write_compressed(options.grey ? grey.data() : image.pixels.data(), image.size, options, errors, &bytes, &count);
  std::string jpeg(reinterpret_cast<const char*>(bytes), done ? count : 0);
  std::free(bytes);
  require(done, errors.message);
  return jpeg;
}

}  // namespace tbd
