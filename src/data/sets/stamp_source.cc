#include "data/sets/stamp_source.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "data/sets/made_set.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

struct CategoryFolders {
  std::string_view name;
  std::vector<std::string_view> folders;  // of tuxpaint-stamps-default, below stamps/
};
// A stamp is of the first category that has its folder.
const std::vector<CategoryFolders>& category_folders() {
  static const std::vector<CategoryFolders> all = {
      {"bird", {"animals/birds"}},
      {"mammal", {"animals/mammals", "animals/marsupials"}},
      {"fish", {"animals/fish"}},
      {"insect", {"animals/insects"}},
      {"flower", {"plants/flowers"}},
      {"plant", {"plants"}},
      {"food", {"food"}},
      {"clothing", {"clothes"}},
      {"instrument", {"hobbies/music"}},
      {"tool", {"household/tools"}},
      {"household", {"household"}},
      {"vehicle", {"vehicles", "military/vehicles"}},
      {"road sign", {"town/roadsigns"}},
      {"planet", {"space"}},
      {"ornament", {"seasonal"}},
      {"sport", {"sports"}},
      {"medical", {"medical"}},
      {"flag", {"town/flags"}},
  };
  return all;
}

constexpr int64_t kLeastSide = 48, kEvery = 5;
constexpr uint8_t kOpaque = 128;

bool is_stamp_name(const fs::path& path) {
  if (path.extension() != ".png") return false;
  const std::string name = path.filename().string();
  if (name.find("_mirror") != std::string::npos || name.find("_flip") != std::string::npos) return false;
  return std::ranges::none_of(path.parent_path(), [](const fs::path& folder) {
    return folder == "cartoon" || folder == "toys" || folder == "plastic";
  });
}

// Behind the last "stamps/"; empty where there is none.
std::string_view below_stamps(std::string_view path) {
  constexpr std::string_view kStamps = "stamps/";
  const size_t found = path.rfind(kStamps);
  return found == std::string_view::npos ? "" : path.substr(found + kStamps.size());
}

std::optional<size_t> category_of(std::string_view path) {
  const std::string_view below = below_stamps(path);
  for (size_t i = 0; i < category_folders().size(); ++i)
    for (const std::string_view folder : category_folders()[i].folders)
      if (below.starts_with(cat(folder, "/"))) return i;
  return std::nullopt;
}

// Where the object is, and how many pixels it has.
struct ObjectPart {
  PixelRect box;
  int64_t pixels = 0;
  bool transparent = false;  // somewhere
};
ObjectPart object_part(const RgbaImage& image) {
  ObjectPart part{.box = {image.size.width, image.size.height, 0, 0}};
  for (int64_t y = 0; y < image.size.height; ++y)
    for (int64_t x = 0; x < image.size.width; ++x) {
      const uint8_t opacity = image.pixels[static_cast<size_t>(4 * (y * image.size.width + x) + 3)];
      part.transparent = part.transparent || opacity < kOpaque;
      if (opacity < kOpaque) continue;
      ++part.pixels;
      part.box = {std::min(part.box.left, x), std::min(part.box.top, y), std::max(part.box.right, x + 1),
                  std::max(part.box.bottom, y + 1)};
    }
  return part;
}

bool is_usable(const ObjectPart& part) {
  if (!part.transparent || part.pixels == 0) return false;
  const int64_t width = part.box.right - part.box.left, height = part.box.bottom - part.box.top;
  return std::max(width, height) >= kLeastSide && 20 * part.pixels >= width * height;
}

RgbaImage cut(const RgbaImage& image, const PixelRect& box) {
  RgbaImage out{.size = {box.right - box.left, box.bottom - box.top}, .pixels = {}};
  for (int64_t y = box.top; y < box.bottom; ++y) {
    const auto row = image.pixels.begin() + 4 * (y * image.size.width + box.left);
    out.pixels.insert(out.pixels.end(), row, row + 4 * out.size.width);
  }
  return out;
}

}  // namespace

int64_t stamp_category_count() { return static_cast<int64_t>(category_folders().size()); }

std::vector<StampCategory> find_stamps(const fs::path& folder, int64_t categories) {
  std::vector<StampCategory> out;
  for (int64_t i = 0; i < categories; ++i) out.push_back({category_folders()[static_cast<size_t>(i)].name, {}});
  for (const std::string& below : files_below(folder, is_stamp_name)) {
    const std::optional<size_t> category = category_of(below);
    if (!category || *category >= out.size()) continue;
    const std::string bytes = read_file(folder / below);
    try {
      const RgbaImage image = decode_png_with_opacity(std::as_bytes(std::span(bytes)));
      const ObjectPart part = object_part(image);
      if (is_usable(part)) out[*category].stamps.push_back({.below = below, .picture = cut(image, part.box)});
    } catch (const Error& e) {
      throw e.within(below);
    }
  }
  for (StampCategory& category : out) {
    require(category.stamps.size() >= kEvery, folder.string(), " has ", static_cast<int64_t>(category.stamps.size()),
            " stamps of the category '", category.name, "', ", kEvery, " are needed");
    for (size_t i = 0; i < category.stamps.size(); ++i)
      category.stamps[i].split = i % kEvery == kEvery - 1 ? Split::val : Split::train;
  }
  return out;
}

}  // namespace tbd
