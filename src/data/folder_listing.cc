#include "data/folder_listing.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

bool is_image_name(std::string_view name) {
  constexpr std::string_view kEndings[] = {".JPEG", ".jpeg", ".JPG", ".jpg"};
  return std::any_of(std::begin(kEndings), std::end(kEndings), [&](auto ending) { return name.ends_with(ending); });
}

// Names in `folder` for which `wanted(entry)`, in byte order.
template <class Wanted>
std::vector<std::string> names_in(const fs::path& folder, const Wanted& wanted) {
  std::error_code code;
  std::vector<std::string> names;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    std::string name = it->path().filename().string();
    if (!name.starts_with('.') && wanted(*it, name)) names.push_back(std::move(name));
  }
  if (code)
    fail(code == std::errc::no_such_file_or_directory ? ErrorKind::not_found : ErrorKind::io, "cannot read folder ",
         folder.string(), ": ", code.message());
  std::sort(names.begin(), names.end());
  return names;
}

bool is_unlabelled_name(const fs::path& name) {
  std::string ending = name.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

std::string folder_of(Split split, int64_t size) {
  return cat(split == Split::train ? "train_" : "valid_", size, "x", size);
}

// The folders train_SxS.
std::vector<int64_t> sizes_in(const fs::path& path) {
  std::vector<int64_t> sizes;
  for (const std::string& name : names_in(path, [](const auto&entry, const auto&) { return is_folder(entry.path()); }))
    if (const size_t x = name.rfind('x'); x != std::string::npos)
      if (const auto size = parse_int(name.substr(x + 1)); size && name == folder_of(Split::train, *size))
        sizes.push_back(*size);
  std::ranges::sort(sizes);
  return sizes;
}

std::string named(const std::vector<int64_t>& sizes) {
  std::vector<std::string> names;
  for (const int64_t size : sizes) names.push_back(folder_of(Split::train, size));
  return join(names, ", ");
}

}  // namespace

fs::path split_root(const fs::path& path, Split split) {
  const bool train = is_folder(path / "train"), val = is_folder(path / "val");
  if (!train && !val) return path;
  const std::string_view wanted = split == Split::train ? "train" : "val";
  if (!(split == Split::train ? train : val))
    fail(ErrorKind::invalid, path.string(), " has no folder '", wanted, "', only '", train ? "train" : "val", "'");
  return path / wanted;
}

UnlabelledListing list_unlabelled_images(const fs::path& path, Split split, int64_t size) {
  UnlabelledListing listing{.root = path / folder_of(split, size), .data_hash = recorded_hash(path)};
  if (!is_folder(listing.root)) {
    const std::vector<int64_t> sizes = sizes_in(path);
    fail(ErrorKind::not_found, path.string(), " has no folder '", folder_of(split, size), "'",
         sizes.empty() ? "" : cat(", only ", named(sizes)));
  }
  listing.files = names_in(listing.root, [](const fs::directory_entry& entry, const std::string& name) {
    std::error_code ignored;
    return is_unlabelled_name(name) && !entry.is_directory(ignored);
  });
  require(!listing.files.empty(), listing.root.string(), " has no image: no .png, .jpg or .jpeg file");
  return listing;
}

int64_t only_image_size(const fs::path& path) {
  const std::vector<int64_t> sizes = sizes_in(path);
  if (sizes.empty()) fail(ErrorKind::not_found, path.string(), " has no folder 'train_SxS', as train_64x64");
  require(sizes.size() == 1, path.string(), " has images of several sizes: ", named(sizes), "; say which");
  return sizes[0];
}

std::optional<std::string> recorded_hash(const fs::path& path) {
  try {
    const fs::path file = path / "data.json";
    return maybe<std::string>(parse_json(read_file(file), file.string()), "content_sha256");
  } catch (const Error&) {
    return std::nullopt;
  }
}

FolderListing list_image_folder(const fs::path& path, Split split) {
  FolderListing listing{.root = split_root(path, split), .data_hash = recorded_hash(path)};
  listing.classes = names_in(listing.root, [](const auto& entry, const auto&) { return is_folder(entry.path()); });
  require(!listing.classes.empty(), listing.root.string(), " has no class folders");
  for (size_t label = 0; label < listing.classes.size(); ++label) {
    const std::string& name = listing.classes[label];
    const auto is_image = [](const fs::directory_entry& entry, const std::string& file) {
      std::error_code ignored;
      return is_image_name(file) && !entry.is_directory(ignored);
    };
    for (const std::string& file : names_in(listing.root / name, is_image))
      listing.files.push_back({cat(name, "/", file), static_cast<int32_t>(label)});
  }
  require(!listing.files.empty(), listing.root.string(), " has no image: no class folder holds a .JPEG or .jpg file");
  return listing;
}

}  // namespace tbd
