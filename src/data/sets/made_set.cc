#include "data/sets/made_set.h"

#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "base/file_hash.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

bool is_content(const fs::path& path) {
  const std::string name = path.filename().string();
  return name != "data.json" && !name.starts_with('.');
}

}  // namespace

std::vector<std::string> files_below(const fs::path& folder, WantedFile wanted) {
  std::vector<std::string> files;
  std::error_code code;
  fs::recursive_directory_iterator it(folder, code);
  for (const fs::recursive_directory_iterator end; !code && it != end; it.increment(code))
    if (wanted(it->path()) && it->is_regular_file())
      files.push_back(it->path().lexically_relative(folder).generic_string());
  if (code)
    fail(code == std::errc::no_such_file_or_directory ? ErrorKind::not_found : ErrorKind::io, "cannot read folder ",
         folder.string(), ": ", code.message());
  std::sort(files.begin(), files.end());
  return files;
}

std::string content_hash(const fs::path& dir) {
  std::string lines;
  for (const std::string& file : files_below(dir, is_content))
    lines += cat(sha256_of_file(dir / file), "  ", file, "\n");
  return sha256_hex(lines);
}

MadeSet::MadeSet(const fs::path& out)
    : out_((out / "").parent_path()),  // without a trailing separator
      beside_(out_.string() + cat(".", ::getpid(), ".part")) {
  std::error_code ignored;
  require(!fs::exists(out_, ignored) || (fs::is_directory(out_, ignored) && fs::is_empty(out_, ignored)), out_.string(),
          " exists and is not empty");
  make_folder(beside_);
}

MadeSet::~MadeSet() {
  std::error_code ignored;
  fs::remove_all(beside_, ignored);
}

SetSummary MadeSet::finish(const std::string& name, const Json& description) {
  const std::vector<std::string> files = files_below(beside_, is_content);
  SetSummary summary{.files = static_cast<int64_t>(files.size()), .content_sha256 = content_hash(beside_)};
  for (const std::string& file : files) summary.bytes += static_cast<int64_t>(fs::file_size(beside_ / file));
  Json json = {
      {"name", name}, {"content_sha256", summary.content_sha256}, {"files", summary.files}, {"bytes", summary.bytes}};
  json.update(description);
  json["made_by"] = "tbd data " + name;
  write_file(beside_ / "data.json", json.dump(1) + "\n");
  std::error_code code;
  fs::rename(beside_, out_, code);
  if (code) fail(ErrorKind::io, "cannot rename ", beside_.string(), " to ", out_.string(), ": ", code.message());
  return summary;
}

double share_of(std::string_view text) {
  const auto digest = sha256(text);
  uint32_t word = 0;
  for (size_t i = 0; i < 4; ++i) word = word << 8 | digest[i];
  return word / 4294967296.0;
}

}  // namespace tbd
