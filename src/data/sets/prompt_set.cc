#include "data/sets/prompt_set.h"

#include <map>

#include "base/error.h"
#include "base/json.h"
#include "data/sets/prompt_text.h"
#include "data/text/text_file.h"
#include "data/transcripts.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

struct SpeechPackage {
  std::string_view name, licence;
};
// As the packages' copyright files say of their recordings.
constexpr SpeechPackage kSpeechPackages[] = {
    {"asterisk-core-sounds-en", "CC-BY-SA-3.0"},
    {"asterisk-core-sounds-en-wav", "CC-BY-SA-3.0"},
    {"pocketsphinx-testdata", "BSD-2-Clause"},
};

// The Debian package that ships a file and its licence; both null for other files.
Json origin_json(const std::string& file) {
  const std::string below = "/" + file;
  for (const SpeechPackage& package : kSpeechPackages)
    if (below.find(cat("/", package.name, "/usr/")) != std::string::npos)
      return {{"file", file}, {"package", package.name}, {"licence", package.licence}};
  return {{"file", file}, {"package", nullptr}, {"licence", nullptr}};
}

bool is_list(const fs::path& path) {
  return path.filename() == "core-sounds-en.txt" || path.filename() == "core-sounds-en.txt.gz";
}
bool is_recording(const fs::path& path) { return path.extension() == ".wav"; }
bool is_sentence_list(const fs::path& path) { return path.filename() == "transcription"; }

// "en_US_f_Allison/digits/7.wav" below a folder `sounds` is "digits/7".
std::map<std::string, std::string> recordings_by_name(const fs::path& source_dir) {
  constexpr std::string_view kSounds = "/sounds/";
  std::map<std::string, std::string> by_name;
  for (const std::string& file : files_below(source_dir, is_recording)) {
    const std::string below = "/" + file;
    const size_t sounds = below.find(kSounds);
    const size_t voice = sounds == std::string::npos ? sounds : below.find('/', sounds + kSounds.size());
    if (voice == std::string::npos) continue;
    const fs::path name = below.substr(voice + 1);
    by_name.emplace(fs::path(name).replace_extension().generic_string(), file);
  }
  return by_name;
}

// Adds the sentences of one list of pocketsphinx: "<s> words </s> (NAME)", NAME.wav beside it.
void add_sentences(const fs::path& list, SpokenSplit& split) {
  const TextFile lines(list);
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = trim(lines[i]);
    const size_t begin = line.find("<s> "), end = line.find(" </s> (");
    if (line.empty()) continue;
    require(begin == 0 && end != std::string_view::npos && line.ends_with(')'), lines.where(i),
            ": expected <s> WORDS </s> (NAME)");
    const std::string name(line.substr(end + 7, line.size() - end - 8));
    split.add(list.parent_path() / (name + ".wav"), normal_transcript(line.substr(4, end - 4)));
  }
}

SpokenCounts held_out(const fs::path& source_dir, const fs::path& folder, Json& sources) {
  SpokenCounts counts;
  for (const std::string& file : files_below(source_dir, is_sentence_list)) {
    SpokenSplit split(folder, "pocketsphinx", fs::path(file).parent_path().filename().string());
    add_sentences(source_dir / file, split);
    const SpokenCounts more = split.finish();
    counts = {counts.utterances + more.utterances, counts.seconds + more.seconds};
    sources.push_back(origin_json(file));
  }
  return counts;
}

Json left_out_json(const std::vector<BadFile>& prompts) {
  Json list = Json::array();
  for (const BadFile& prompt : prompts) list.push_back({{"file", prompt.path}, {"reason", prompt.reason}});
  return list;
}

Json spoken_counts_json(const SpokenCounts& counts) {
  return {{"utterances", counts.utterances}, {"seconds", counts.seconds}};
}

}  // namespace

PromptSetSummary make_prompt_set(const fs::path& source_dir, const fs::path& out_dir, const PromptSetOptions& options) {
  MadeSet made(out_dir);
  const std::vector<std::string> lists = files_below(source_dir, is_list);
  require(!lists.empty(), source_dir.string(), " has no list of prompts core-sounds-en.txt or .txt.gz");
  const auto recordings = recordings_by_name(source_dir);
  SpokenSplit train(made.folder() / "train", "allison", "prompts"), val(made.folder() / "val", "allison", "prompts");
  PromptSetSummary summary;
  Json sources = {origin_json(lists[0])};
  for (const ListedPrompt& prompt : read_prompt_list(source_dir / lists[0])) {
    try {
      const auto recording = recordings.find(prompt.name);
      require(recording != recordings.end(), "no recording");
      const std::string text = prompt_transcript(prompt.text);
      (share_of(text) < options.val_share ? val : train).add(source_dir / recording->second, text);
      if (sources.size() == 1) sources.push_back(origin_json(recording->second));
    } catch (const Error& e) {
      summary.left_out.push_back({prompt.name, e.what()});
    }
  }
  summary.train = train.finish();
  summary.val = val.finish();
  require(summary.train.utterances > 0 && summary.val.utterances > 0, source_dir.string(), " gives ",
          summary.train.utterances, " prompts for training and ", summary.val.utterances, " for validation");
  summary.held_out = held_out(source_dir, made.folder() / "held_out", sources);
  summary.set = made.finish("prompts", {{"train", spoken_counts_json(summary.train)},
                                        {"val", spoken_counts_json(summary.val)},
                                        {"held_out", spoken_counts_json(summary.held_out)},
                                        {"val_share", options.val_share},
                                        {"sources", sources},
                                        {"left_out", left_out_json(summary.left_out)}});
  return summary;
}

}  // namespace tbd
