// Writes recordings with transcripts in the layout of LibriSpeech.
#pragma once
#include <filesystem>
#include <span>
#include <string>

namespace tbd {

struct SpokenCounts {
  int64_t utterances = 0;
  double seconds = 0;
};

// folder/<speaker>/<chapter>/<speaker>-<chapter>-<nnnn>.wav, numbered from 0, and <speaker>-<chapter>.trans.txt.
class SpokenSplit {
 public:
  SpokenSplit(const std::filesystem::path& folder, const std::string& speaker, const std::string& chapter);

  // Reads `recording`, brings it to 16 kHz and writes it with `transcript`, a normal one. Throws Error(invalid) for one
  // that a reader with the usual buckets would refuse or leave out: too short, silent, longer than 16 s, too fast to be
  // spelled by CTC.
  void add(const std::filesystem::path& recording, const std::string& transcript);
  // Writes the transcripts.
  SpokenCounts finish() const;

 private:
  std::filesystem::path folder_;
  std::string name_, transcripts_;
  SpokenCounts counts_;
};

}  // namespace tbd
