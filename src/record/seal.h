// What a launch's data files were when the launch ended. launch.json holds it under "files", so that a file that was
// changed, cut or replaced later can be told from one that was measured.
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/json_fwd.h"

namespace tbd {

struct FileSeal {
  std::string sha256;
  int64_t bytes = 0;
  std::optional<int64_t> rows;  // of a .csv: whole lines after its header
  bool operator==(const FileSeal&) const = default;
};
using Seal = std::map<std::string, FileSeal>;  // by file name

// Of the files in the folder and in those of its ranks ("rank-0/steps.csv"), but launch.json and logs, which no number
// comes from.
// Throws Error(io) on a file that cannot be read.
Seal seal_of(const std::filesystem::path& launch_folder);
Json to_json(const Seal& seal);
Seal seal_from_json(const Json& json);  // throws Error(invalid)

}  // namespace tbd
