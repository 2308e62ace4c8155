// The marks that a row may carry, each with what it means.
#pragma once
#include <span>
#include <string_view>

namespace tbd {

struct Flag {
  std::string_view name, meaning;
};
std::span<const Flag> known_flags();  // by name

}  // namespace tbd
