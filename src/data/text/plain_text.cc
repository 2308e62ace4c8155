#include "data/text/plain_text.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

std::vector<fs::path> text_files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code))
    if (it->path().extension() == ".txt" && it->path().filename() != "vocab.txt" && it->is_regular_file())
      files.push_back(it->path());
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::vector<fs::path> find_plain_text(const SourceSpec& spec) {
  const fs::path root = spec.path;
  const bool training = spec.split == Split::train;
  const std::string split = training ? "train" : "val";
  if (is_file(root / (split + ".txt"))) return {root / (split + ".txt")};
  if (const auto files = text_files_in(root / split); !files.empty()) return files;
  if (training && is_file(root)) return {root};
  if (training)
    if (const auto files = text_files_in(root); !files.empty()) return files;
  fail(ErrorKind::not_found, root.string(), " has no ", training ? "training" : "validation", " text; looked for ",
       split, ".txt and ", split, "/*.txt", training ? " and *.txt" : "");
}

std::vector<fs::path> find_training_text(const SourceSpec& spec) {
  SourceSpec training = spec;
  training.split = Split::train;
  return find_plain_text(training);
}

PlainText::PlainText(const std::vector<fs::path>& files) {
  for (const fs::path& path : files) {
    const TextFile& file = *files_.emplace_back(std::make_unique<TextFile>(path));
    bool inside = false;
    for (size_t line = 0; line < file.size(); ++line) {
      const std::string_view sentence = trim(file[line]);
      if (!sentence.empty() && !inside) documents_.emplace_back();
      if (!sentence.empty()) documents_.back().push_back(sentence);
      inside = !sentence.empty();
    }
  }
  require(!documents_.empty(), files.empty() ? "no file" : files[0].string(), " contains no sentences");
}

}  // namespace tbd
