#include "data/image_file.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "data/png_decoder.h"

namespace tbd {
namespace {

bool begins_with(std::span<const std::byte> bytes, std::string_view magic) {
  const auto same = [](std::byte byte, char c) { return byte == static_cast<std::byte>(c); };
  return bytes.size() >= magic.size() && std::ranges::equal(bytes.first(magic.size()), magic, same);
}

}  // namespace

RgbImage decode_image(std::span<const std::byte> bytes) {
  require(!bytes.empty(), "the file is empty");
  if (begins_with(bytes, "\x89PNG")) return decode_png(bytes);
  require(begins_with(bytes, "\xFF\xD8"), "neither PNG nor JPEG by its first bytes");
  JpegDecoder decoder;
  return decoder.image(decoder.open(bytes));
}

RgbImage read_square_image(const std::filesystem::path& file, int64_t size) {
  const std::string bytes = read_file(file);
  try {
    RgbImage image = decode_image(std::as_bytes(std::span(bytes)));
    require(image.size == ImageSize{size, size}, "an image of ", image.size.width, " x ", image.size.height,
            " pixels, not of ", size, " x ", size);
    return image;
  } catch (const Error& e) {
    throw e.within(file.string());
  }
}

}  // namespace tbd
