// The list is written after the files that it names, so that a reader finds each of them.
#include "record/pictures.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

constexpr int kListVersion = 1;
constexpr const char *kFolder = "pictures", *kList = "pictures.json";

// A name that leads out of the folder is not followed.
void require_file_name(const std::string& file) {
  const fs::path name = file;
  require(name.extension() == ".png" && name.filename() == name && !file.starts_with('.'), "'", file,
          "' is not the name of a .png file in this folder");
}

void require_picture(const Picture& picture) {
  constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
  require_file_name(picture.file);
  require(!picture.title.empty(), "'", picture.file, "' has no title");
  require(picture.png.starts_with(kSignature), "'", picture.file, "' is no PNG");
  require(static_cast<int64_t>(picture.png.size()) <= kMostPictureBytes, "'", picture.file, "' has ",
          format_bytes(static_cast<int64_t>(picture.png.size())), ", at most ", format_bytes(kMostPictureBytes),
          " are allowed");
}

void require_pictures(std::span<const Picture> pictures) {
  require(pictures.size() <= kMostPictures, pictures.size(), " pictures, at most ", kMostPictures, " are allowed");
  std::set<std::string> names;
  for (const Picture& picture : pictures) {
    require_picture(picture);
    require(names.insert(picture.file).second, "'", picture.file, "' stands twice");
  }
}

Picture picture_from(const Json& json, const fs::path& folder) {
  const auto file = at<std::string>(json, "file");
  require_file_name(file);
  return {.file = file,
          .title = at<std::string>(json, "title"),
          .caption = maybe<std::string>(json, "caption").value_or(""),
          .png = read_file(folder / file, kMostPictureBytes)};
}

// Pictures that an earlier list named.
void remove_others(const fs::path& folder, std::span<const Picture> pictures) {
  std::vector<fs::path> others;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".png" && std::ranges::find(pictures, name, &Picture::file) == pictures.end())
      others.push_back(entry.path());
  }
  for (const fs::path& other : others) fs::remove(other, ignored);
}

}  // namespace

std::vector<Picture> read_pictures(const fs::path& record) {
  const fs::path folder = record / kFolder, list = folder / kList;
  if (!is_file(list)) return {};
  const std::string text = read_file(list);
  try {
    const Json json = parse_json(text, list.string());
    const int version = at<int>(json, "version");
    require(version == kListVersion, "version ", version, " is not supported, ", kListVersion, " is");
    std::vector<Picture> pictures;
    for (const Json& each : at<Json>(json, "pictures")) pictures.push_back(picture_from(each, folder));
    require_pictures(pictures);
    return pictures;
  } catch (const Error& e) {
    throw e.within(list.string());
  }
}

void write_pictures(const fs::path& record, std::span<const Picture> pictures) {
  require_pictures(pictures);
  const fs::path folder = record / kFolder;
  make_folder(folder);
  Json list = Json::array();
  for (const Picture& picture : pictures) {
    write_file_atomic(folder / picture.file, picture.png);
    list.push_back({{"file", picture.file}, {"title", picture.title}, {"caption", picture.caption}});
  }
  write_file_atomic(folder / kList, Json{{"version", kListVersion}, {"pictures", std::move(list)}}.dump(1) + "\n");
  remove_others(folder, pictures);
}

}  // namespace tbd
