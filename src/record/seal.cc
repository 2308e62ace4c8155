#include "record/seal.h"

#include <algorithm>

#include "base/file_hash.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "record/record.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

bool is_sealed(const fs::directory_entry& entry) {
  return entry.is_regular_file() && entry.path().filename() != "launch.json" && entry.path().extension() != ".log";
}

bool is_of_rank(const fs::directory_entry& entry) {
  return entry.is_directory() && entry.path().filename().string().starts_with(kRankFolder);
}

int64_t rows_of(const std::string& csv) {
  const int64_t lines = std::ranges::count(csv, '\n');
  return std::max<int64_t>(lines - 1, 0);
}

FileSeal seal_file(const fs::path& file) {
  if (file.extension() != ".csv")
    return {.sha256 = sha256_of_file(file), .bytes = static_cast<int64_t>(fs::file_size(file)), .rows = {}};
  const std::string text = read_file(file);
  return {.sha256 = sha256_hex(text), .bytes = static_cast<int64_t>(text.size()), .rows = rows_of(text)};
}

}  // namespace

Seal seal_of(const fs::path& launch_folder) try {
  Seal seal;
  for (const fs::directory_entry& entry : fs::directory_iterator(launch_folder))
    if (is_sealed(entry))
      seal[entry.path().filename().string()] = seal_file(entry.path());
    else if (is_of_rank(entry))
      for (const auto& [file, of] : seal_of(entry.path())) seal[cat(entry.path().filename().string(), "/", file)] = of;
  return seal;
} catch (const fs::filesystem_error& error) {
  fail(ErrorKind::io, "cannot read ", launch_folder.string(), ": ", error.code().message());
}

Json to_json(const Seal& seal) {
  Json json = Json::object();
  for (const auto& [file, of] : seal) {
    json[file] = {{"sha256", of.sha256}, {"bytes", of.bytes}};
    if (of.rows) json[file]["rows"] = *of.rows;
  }
  return json;
}

Seal seal_from_json(const Json& json) {
  require(json.is_object(), "'files' must be an object");
  Seal seal;
  for (const auto& [file, of] : json.items())
    seal[file] = {
        .sha256 = at<std::string>(of, "sha256"), .bytes = at<int64_t>(of, "bytes"), .rows = maybe<int64_t>(of, "rows")};
  return seal;
}

}  // namespace tbd
