// An image file of a form that its first bytes tell.
#pragma once
#include <filesystem>

#include "data/jpeg_decoder.h"

namespace tbd {

// PNG as decode_png reads it, else JPEG, whole. Throws Error(invalid) as the decoders say, or "neither PNG nor JPEG".
RgbImage decode_image(std::span<const std::byte> bytes);

// The square image of a file. Throws Error(invalid) with the file's name: what decode_image throws, or an image of
// another size than size x size, with both sizes; Error(not_found or io) for a file that cannot be read.
RgbImage read_square_image(const std::filesystem::path& file, int64_t size);

}  // namespace tbd
