// The pictures that a photograph set is cut from.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "data/crop_plan.h"

namespace tbd {

inline constexpr ImageSize kLeastSource = {1000, 1000};  // smaller pictures would be enlarged
inline constexpr ImageSize kDecoded = {2000, 1200};  // larger ones are first reduced in the DCT domain to at least this

struct PhotoSource {
  std::string name;  // of the picture; the class
  std::filesystem::path file;
  std::string below;  // the file's path below the folder searched
  ImageSize size;
  std::string package, licence;  // empty where unknown
};

// One file for each picture below `folder`, by name: the largest of its sizes. A picture's name is the folder above
// contents/images, else the file's name without its ending and a trailing _WIDTHxHEIGHT. Files that are no JPEG,
// smaller than `least`, previews (contents/screenshot.jpg) and pictures known to be drawings are left out. Throws
// Error(not_found or io) when the folder cannot be read.
std::vector<PhotoSource> find_photos(const std::filesystem::path& folder, ImageSize least);

}  // namespace tbd
