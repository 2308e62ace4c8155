// The cut-out pictures that a set for detection is made of, by category.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/png_decoder.h"
#include "data/source.h"

namespace tbd {

struct Stamp {
  std::string below;  // the file's path below the folder searched
  Split split = Split::train;
  RgbaImage picture;  // no more than the object
};
struct StampCategory {
  std::string_view name;
  std::vector<Stamp> stamps;  // by path in byte order; every fifth is for validation
};

// The first `categories` of the categories, with the stamps (.png) of their folders below "stamps/". Left out: drawings
// and toys (folders cartoon, toys, plastic), mirrored and turned copies (names with _mirror, _flip), pictures without
// transparency, and those whose object, the pixels of opacity 128 and more, is smaller than 48 pixels or covers less
// than a twentieth of its box. Throws Error(not_found or io) when the folder cannot be read, Error(invalid) for a
// picture that is no PNG and for a category with fewer than five stamps, by name.
std::vector<StampCategory> find_stamps(const std::filesystem::path& folder, int64_t categories);
int64_t stamp_category_count();

}  // namespace tbd
