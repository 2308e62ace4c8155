#include "data/speech/manifest.h"

#include "base/files.h"
#include "base/json.h"
#include "data/text/text_file.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

// The one line of a transcript's file; an empty file has an empty one.
std::string one_line(const fs::path& path, const std::string& where) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored))
    fail(ErrorKind::not_found, where, ": the transcript ", path.string(), " does not exist");
  const TextFile file(path);
  require(file.size() < 2, file.where(1), ": a transcript must be one line");
  return file.size() == 0 ? "" : std::string(file[0]);
}

void add_utterance(UtteranceList& list, const std::string& audio, const std::string& transcript,
                   const std::string& where) {
  const fs::path text = list.root / transcript;  // an absolute path stays
  list.utterances.push_back({audio, one_line(text, where), cat(text.string(), ":1")});
}

void read_json(const fs::path& manifest, UtteranceList& list) try {
  const Json json = parse_json(read_file(manifest), manifest.string());
  if (const auto root = maybe<std::string>(json, "root_path")) list.root /= *root;
  size_t number = 0;
  for (const Json& sample : at<Json>(json, "samples"))
    add_utterance(list, at<std::string>(sample, "wav_path"), at<std::string>(sample, "transcript_path"),
                  cat("sample ", ++number));
} catch (const Error& e) {
  throw e.within(manifest.string());
}

void read_lines(const fs::path& manifest, UtteranceList& list) {
  const TextFile file(manifest);
  for (size_t line = 0; line < file.size(); ++line) {
    const std::vector<std::string> fields = split(trim(file[line]), ',');
    require(fields.size() == 2 && !fields[0].empty() && !fields[1].empty(), file.where(line),
            ": expected AUDIO,TRANSCRIPT");
    add_utterance(list, fields[0], fields[1], file.where(line));
  }
}

bool is_manifest(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

}  // namespace

fs::path find_manifest(const fs::path& path, Split split) {
  if (is_manifest(path)) return path;
  const std::string stem = split == Split::train ? "train_manifest" : "val_manifest";
  for (const char* ending : {".json", ".csv"})
    if (is_manifest(path / (stem + ending))) return path / (stem + ending);
  return {};
}

UtteranceList read_manifest(const fs::path& manifest) {
  UtteranceList list{.root = manifest.parent_path(), .utterances = {}, .left_out = {}};
  if (manifest.extension() == ".json")
    read_json(manifest, list);
  else
    read_lines(manifest, list);
  return list;
}

}  // namespace tbd
