// The pictures of a record (record/picture.h). They lie in its folder `pictures`: PNG files, and pictures.json with
// what is said of each (docs/record.md).
#pragma once
#include <filesystem>
#include <span>
#include <vector>

#include "record/picture.h"

namespace tbd {

inline constexpr size_t kMostPictures = 64;             // of a record
inline constexpr int64_t kMostPictureBytes = 16 << 20;  // of one

// In the order of pictures.json; none where there is no such file. Throws Error(invalid), which names the file, for one
// that is not as this page says, and as read_file.
std::vector<Picture> read_pictures(const std::filesystem::path& record);

// Puts them in the place of those that are there. A reader finds the old list or the new, and every file that it names.
// Throws Error(invalid) on what read_pictures refuses, and as write_file_atomic.
void write_pictures(const std::filesystem::path& record, std::span<const Picture> pictures);

}  // namespace tbd
