// The files of a data set in the layout of ImageNet.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/source.h"

namespace tbd {

struct ListedFile {
  std::string path;  // "class/name", below the listing's root
  int32_t label;     // rank of the class folder's name in byte order
};

struct FolderListing {
  std::filesystem::path root;  // holds the class folders
  std::vector<std::string> classes;
  std::vector<ListedFile> files;  // by class, then by name in byte order; a file's place here is its position
  std::optional<std::string> data_hash;
};

// Lists `path`/train or `path`/val; or `path` itself where it has neither. Class folders are its folders, images their
// files ending in .JPEG, .jpeg, .JPG or .jpg; deeper folders, other files and names that start with a dot are left out.
// Throws Error(not_found or io) for a folder that is missing or cannot be read, Error(invalid) when there is no class
// folder, no image, or the tree has only the other split.
FolderListing list_image_folder(const std::filesystem::path& path, Split split);

// `path`/train or `path`/val; `path` itself where it has neither. Throws Error(invalid) when it has only the other one.
std::filesystem::path split_root(const std::filesystem::path& path, Split split);
// Square images of one size without labels, in the layout of Downsampled ImageNet (van den Oord et al. 2016,
// arXiv:1601.06759): path/train_SxS and path/valid_SxS, S being `size`.
struct UnlabelledListing {
  std::filesystem::path root;      // holds the files
  std::vector<std::string> files;  // by name in byte order; a file's place here is its position
  std::optional<std::string> data_hash;
};
// Images are the files ending in .png, .jpg or .jpeg, in small or capital letters; deeper folders, other files and
// names that start with a dot are left out. Throws Error(not_found) where there is no folder of that split and size,
// naming the sizes that are there, Error(io) for one that cannot be read, Error(invalid) for one without an image.
UnlabelledListing list_unlabelled_images(const std::filesystem::path& path, Split split, int64_t size);
// The S of the one folder path/train_SxS. Throws Error(not_found) where there is none, Error(invalid) for several.
int64_t only_image_size(const std::filesystem::path& path);

// content_sha256 of path/data.json; nullopt without one, or with one that cannot be read: no reason to refuse the data.
std::optional<std::string> recorded_hash(const std::filesystem::path& path);

}  // namespace tbd
