// The data sets that the models are made for, and the small real ones that packages of Debian give.
#pragma once
#include <span>
#include <string_view>

namespace tbd {

struct KnownSet {
  std::string_view name, kind;  // kind: of a source (docs/data.md)
  std::string_view source, licence;
  std::string_view size;  // as published, with who says so, or as measured; empty where unknown
  std::string_view layout;
  std::string_view models;   // names with spaces between; model:config where one config alone reads it
  std::string_view made_by;  // a command; empty for a set that a person brings
  std::string_view folder;   // below data/ of the cache, where the set-up makes it; empty where it does not
};
std::span<const KnownSet> known_sets();

}  // namespace tbd
