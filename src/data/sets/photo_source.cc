#include "data/sets/photo_source.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/files.h"
#include "data/jpeg_decoder.h"
#include "data/sets/made_set.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

struct PhotoPackage {
  std::string_view below, name, licence;
};
// As the packages' copyright files say of these files.
constexpr PhotoPackage kPhotoPackages[] = {
    {"usr/share/wallpapers/", "plasma-workspace-wallpapers", "GPL-2+"},
    {"usr/share/backgrounds/mate/", "mate-backgrounds", "GPL-2+"},
};

constexpr std::string_view kDrawings[] = {"Autumn",    "Elarun",      "Elephants",   "Flow",  "GreenTraditional",
                                          "Honeywave", "PastelHills", "SafeLanding", "Shell", "Volna"};

bool is_photo_name(const fs::path& path) {
  const std::string ending = path.extension().string();
  return ending == ".jpg" || ending == ".jpeg" || ending == ".JPG" || ending == ".JPEG";
}

std::string without_size(std::string stem) {
  const size_t mark = stem.rfind('_');
  if (mark == std::string::npos || mark == 0) return stem;
  const std::string tail = stem.substr(mark + 1);
  const size_t x = tail.find('x');
  if (x == std::string::npos || !parse_int(tail.substr(0, x)) || !parse_int(tail.substr(x + 1))) return stem;
  return stem.substr(0, mark);
}

// Empty for a file that is no picture of its own.
std::string picture_name(const fs::path& below) {
  const std::vector<fs::path> parts(below.begin(), below.end());
  const auto contents = std::find(parts.begin(), parts.end(), "contents");
  std::string name = without_size(below.stem().string());
  if (contents != parts.begin() && contents != parts.end())
    name = std::next(contents)->string() == "images" ? std::prev(contents)->string() : "";
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c) && c != '-'; }, '_');
  return name;
}

bool is_drawing(const std::string& name) {
  return std::find(std::begin(kDrawings), std::end(kDrawings), name) != std::end(kDrawings);
}

ImageSize size_of_jpeg(const fs::path& file) {
  try {
    const std::string bytes = read_file(file);
    return JpegDecoder().open(std::as_bytes(std::span(bytes)));
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

std::vector<PhotoSource> find_photos(const fs::path& folder, ImageSize least) {
  std::map<std::string, PhotoSource> pictures;
  for (const std::string& below : files_below(folder, is_photo_name)) {
    PhotoSource photo{.file = folder / below, .below = below};
    photo.name = picture_name(photo.below);
    if (photo.name.empty() || is_drawing(photo.name)) continue;
    photo.size = size_of_jpeg(photo.file);
    if (photo.size.width < least.width || photo.size.height < least.height) continue;
    for (const PhotoPackage& package : kPhotoPackages)
      if (photo.below.starts_with(package.below)) {
        photo.package = package.name;
        photo.licence = package.licence;
      }
    PhotoSource& kept = pictures[photo.name];
    if (photo.size.width * photo.size.height > kept.size.width * kept.size.height) kept = photo;
  }
  std::vector<PhotoSource> photos;
  for (auto& [name, photo] : pictures) photos.push_back(std::move(photo));
  return photos;
}

}  // namespace tbd
