// The utterances of a split with their labels, lengths and buckets.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "data/source.h"

namespace tbd {

// By ascending frames, ties as listed (utterance_list.h): a *position* is a place here. Headers are read, no recording
// is decoded. Left out and noted, or with spec.text.strict an error: utterances longer than the last bucket, and such
// with more labels than places; with spec.speech.bucket, those of other buckets without a note. Throws what
// list_utterances and audio_info throw, and Error(invalid) naming file, line and utterance for a transcript outside the
// alphabet or empty, a recording of fewer than kLeastSpeechSamples samples at 16 kHz, labels for which its frames are
// too few (CTC), and when nothing is left.
class Utterances {
 public:
  explicit Utterances(const SourceSpec& spec);

  size_t size() const { return utterances_.size(); }
  std::filesystem::path audio(size_t position) const { return root_ / utterances_[position].audio; }
  int64_t frames(size_t position) const { return utterances_[position].frames; }
  size_t bucket(size_t position) const { return utterances_[position].bucket; }
  std::span<const int32_t> labels(size_t position) const {
    return std::span(labels_).subspan(utterances_[position].begin, utterances_[position].labels);
  }
  std::vector<BadFile> left_out() const;  // of each reason the first and how many more
  // How many of the recordings are resampled, by rate, and how many have channels that are averaged.
  std::vector<std::string> fitted() const;

 private:
  struct Utterance {
    std::string audio;
    int64_t frames;
    size_t begin, labels;  // in labels_
    uint16_t bucket;
  };
  void add(const SourceSpec& spec, const std::string& audio, int64_t frames, std::span<const int32_t> labels);
  int64_t frames_of(const std::filesystem::path& file);
  void leave_out(const SourceSpec& spec, const std::string& audio, const std::string& reason);

  std::filesystem::path root_;
  std::vector<Utterance> utterances_;
  std::vector<int32_t> labels_;
  struct Note {
    std::string audio;
    int64_t more = 0;
  };
  std::map<std::string, Note> left_out_;    // by reason
  std::map<int64_t, int64_t> other_rates_;  // recordings by rate
  int64_t averaged_ = 0;
};

}  // namespace tbd
