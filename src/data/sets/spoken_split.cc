#include "data/sets/spoken_split.h"

#include "base/error.h"
#include "base/files.h"
#include "data/audio_file.h"
#include "data/audio_resample.h"
#include "data/spectrogram.h"
#include "data/speech/speech_spec.h"
#include "data/transcripts.h"

namespace tbd {
namespace {

std::string numbered(const std::string& name, int64_t number) {
  const std::string digits = std::to_string(number);
  return cat(name, "-", std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0'), digits);
}

}  // namespace

SpokenSplit::SpokenSplit(const std::filesystem::path& folder, const std::string& speaker, const std::string& chapter)
    : folder_(folder / speaker / chapter), name_(cat(speaker, "-", chapter)) {
  make_folder(folder_);
}

void SpokenSplit::add(const std::filesystem::path& recording, const std::string& transcript) {
  const Audio audio = read_audio(recording);
  const std::vector<float> speech = resampled(audio.samples, audio.rate, kSpeechRate);
  Spectrogram().of(speech);  // refuses what is too short or silent
  const int64_t frames = spectrogram_frames(static_cast<int64_t>(speech.size()));
  const int64_t longest = SpeechSpec().buckets.back();
  require(frames <= longest, "longer than ", longest, " frames");
  require(least_ctc_steps(transcript_labels(transcript)) <= speech_steps(frames), "too fast for its transcript");
  const std::string id = numbered(name_, counts_.utterances++);
  write_audio(folder_ / (id + ".wav"), speech, kSpeechRate);
  transcripts_ += cat(id, " ", transcript, "\n");
  counts_.seconds += static_cast<double>(speech.size()) / static_cast<double>(kSpeechRate);
}

SpokenCounts SpokenSplit::finish() const {
  write_file(folder_ / (name_ + ".trans.txt"), transcripts_);
  return counts_;
}

}  // namespace tbd
