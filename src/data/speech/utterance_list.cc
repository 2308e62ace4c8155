#include "data/speech/utterance_list.h"

#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "base/files.h"
#include "data/speech/manifest.h"
#include "data/text/text_file.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kTranscripts = ".trans.txt";

// Names in byte order; a folder that cannot be read is an error.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::error_code code;
  std::vector<fs::path> entries;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) entries.push_back(*it);
  if (code)
    fail(code == std::errc::no_such_file_or_directory ? ErrorKind::not_found : ErrorKind::io, "cannot read folder ",
         folder.string(), ": ", code.message());
  std::ranges::sort(entries);
  return entries;
}

std::vector<fs::path> training_folders(const fs::path& root) {
  std::vector<fs::path> folders;
  for (const fs::path& entry : entries_of(root)) {
    const std::string name = entry.filename().string();
    if ((name == "train" || name.starts_with("train-")) && is_folder(entry)) folders.push_back(entry);
  }
  return folders;
}

std::vector<fs::path> validation_folders(const fs::path& root) {
  for (const char* name : {"val", "dev-clean", "dev-other"})
    if (is_folder(root / name)) return {root / name};
  return {};
}

std::vector<fs::path> split_folders(const fs::path& root, Split split) {
  const std::vector<fs::path> training = training_folders(root), validation = validation_folders(root);
  if (training.empty() && validation.empty()) return {root};
  const std::vector<fs::path>& wanted = split == Split::train ? training : validation;
  if (wanted.empty())
    fail(ErrorKind::not_found, root.string(), " has no ",
         split == Split::train ? "training speech; looked for train and train-*"
                               : "validation speech; looked for val, dev-clean, dev-other");
  return wanted;
}

class LibriSpeechLister {
 public:
  explicit LibriSpeechLister(const fs::path& root) { list_.root = root; }

  void add_folder(const fs::path& folder) {
    std::vector<fs::path> recordings;
    for (const fs::path& entry : entries_of(folder)) {
      const std::string name = entry.filename().string();
      if (name.starts_with('.')) continue;
      if (is_folder(entry)) add_folder(entry);
      if (name.ends_with(kTranscripts)) add_transcripts(entry);
      if (entry.extension() == ".flac" || entry.extension() == ".wav") recordings.push_back(entry);
    }
    for (const fs::path& recording : recordings)
      if (!known_.contains(below(recording))) list_.left_out.push_back({below(recording), "no transcript"});
  }

  UtteranceList take() { return std::move(list_); }

 private:
  std::string below(const fs::path& path) const { return path.lexically_relative(list_.root).generic_string(); }

  void add_transcripts(const fs::path& path) {
    const TextFile file(path);
    for (size_t line = 0; line < file.size(); ++line) add_line(path, file, line);
  }

  void add_line(const fs::path& path, const TextFile& file, size_t line) {
    const std::string where = cat(below(path), ":", line + 1);
    const std::string_view text = file[line];
    const size_t space = text.find(' ');
    const std::string id(text.substr(0, space));
    require(!id.empty() && id.find('/') == std::string::npos, where, ": expected an utterance's name and its text");
    fs::path audio = path.parent_path() / (id + ".flac");
    if (!is_file(audio)) audio.replace_extension(".wav");
    require(is_file(audio), where, ": no recording ", id, ".flac or .wav beside it");
    require(known_.insert(below(audio)).second, where, ": ", id, " occurs twice");
    list_.utterances.push_back(
        {below(audio), std::string(space == std::string_view::npos ? "" : text.substr(space + 1)), where});
  }

  UtteranceList list_;
  std::unordered_set<std::string> known_;
};

}  // namespace

UtteranceList list_utterances(const fs::path& path, Split split) {
  UtteranceList list;
  if (const fs::path manifest = find_manifest(path, split); !manifest.empty()) {
    list = read_manifest(manifest);
  } else {
    LibriSpeechLister lister(path);
    for (const fs::path& folder : split_folders(path, split)) lister.add_folder(folder);
    list = lister.take();
  }
  require(!list.utterances.empty(), path.string(), " has no utterance for ",
          split == Split::train ? "training" : "validation", ": neither a manifest nor a line in *", kTranscripts);
  return list;
}

}  // namespace tbd
