// The frameworks that the program has back-ends for, whether their workers are built here or not.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace tbd {

struct KnownFramework {
  std::string_view name;             // as --framework and workers.json say it
  std::string_view label;            // as its makers write it
  std::string_view layout = "nchw";  // physical layout of images in which it is usually run on a CPU
  bool retired = false;              // no longer developed upstream; every row of it is flagged so
};

std::span<const KnownFramework> known_frameworks();
const KnownFramework* find_framework(std::string_view name);  // nullptr when unknown: a worker of somebody's own
// Of "pytorch" or "pytorch@2.1"; "nchw" when unknown.
std::string usual_layout(std::string_view framework);

// What a person is told beside the name: "retired upstream", or nothing.
std::string framework_note(std::string_view name);

// Why no worker of it is built: what the set-up left in BUILD_FOLDER/absent/NAME, else how to build one.
std::string absence_reason(std::string_view name, const std::filesystem::path& build_folder);

}  // namespace tbd
