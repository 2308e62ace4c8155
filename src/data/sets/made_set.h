// What every builder of a small real data set does: files made beside their place, a description, one rename.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json_fwd.h"

namespace tbd {

// SHA-256 of the lines "<SHA-256 of the file>  <path below dir>\n" of all files below dir but data.json and names that
// begin with a dot, by path in byte order: what data.json records as content_sha256.
std::string content_hash(const std::filesystem::path& dir);

struct SetSummary {
  int64_t files = 0, bytes = 0;
  std::string content_sha256;
};

// A folder under construction; it goes with all it holds unless it was finished.
class MadeSet {
 public:
  // Throws Error(invalid) when `out` is there and not an empty folder.
  explicit MadeSet(const std::filesystem::path& out);
  ~MadeSet();
  MadeSet(const MadeSet&) = delete;
  MadeSet& operator=(const MadeSet&) = delete;

  const std::filesystem::path& folder() const { return beside_; }  // where files are written
  // Writes data.json: name, content_sha256, files, bytes, then the keys of `description`, then made_by "tbd data NAME";
  // and renames the folder to its place.
  SetSummary finish(const std::string& name, const Json& description);

 private:
  std::filesystem::path out_, beside_;
};

// The files below `folder` for which `wanted` says yes, as paths below it, in byte order. Throws Error(not_found or io)
// when the folder cannot be read.
using WantedFile = bool (*)(const std::filesystem::path&);
std::vector<std::string> files_below(const std::filesystem::path& folder, WantedFile wanted);

// A number from 0 to 1 that `text` decides, its SHA-256's first 32 bits: which split a text belongs to.
double share_of(std::string_view text);

}  // namespace tbd
