#include "data/photo_source.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/files.h"
#include "data/jpeg_decoder.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

struct Package {
  std::string_view below, name, licence;
};
// As the packages' copyright files say of these files.
constexpr Package kPackages[] = {
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

std::vector<fs::path> photo_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code code;
  fs::recursive_directory_iterator it(folder, code);
  for (const fs::recursive_directory_iterator end; !code && it != end; it.increment(code))
    if (is_photo_name(it->path()) && it->is_regular_file()) files.push_back(it->path());
  if (code)
    fail(code == std::errc::no_such_file_or_directory ? ErrorKind::not_found : ErrorKind::io, "cannot read folder ",
         folder.string(), ": ", code.message());
  std::sort(files.begin(), files.end());
  return files;
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
  for (const fs::path& file : photo_files(folder)) {
    PhotoSource photo{.file = file, .below = file.lexically_relative(folder).generic_string()};
    photo.name = picture_name(photo.below);
    if (photo.name.empty() || is_drawing(photo.name)) continue;
    photo.size = size_of_jpeg(file);
    if (photo.size.width < least.width || photo.size.height < least.height) continue;
    for (const Package& package : kPackages)
      if (photo.below.starts_with(package.below)) photo.package = package.name, photo.licence = package.licence;
    PhotoSource& kept = pictures[photo.name];
    if (photo.size.width * photo.size.height > kept.size.width * kept.size.height) kept = photo;
  }
  std::vector<PhotoSource> photos;
  for (auto& [name, photo] : pictures) photos.push_back(std::move(photo));
  return photos;
}

}  // namespace tbd
