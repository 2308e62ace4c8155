#include "data/speech/utterances.h"

#include <algorithm>

#include "base/error.h"
#include "data/audio_file.h"
#include "data/audio_resample.h"
#include "data/spectrogram.h"
#include "data/speech/utterance_list.h"
#include "data/transcripts.h"

namespace tbd {
namespace {

std::vector<int32_t> labels_of(const ListedUtterance& listed) try {
  return transcript_labels(normal_transcript(listed.text));
} catch (const Error& e) {
  throw e.within(listed.where);
}

void require_room(const ListedUtterance& listed, int64_t frames, std::span<const int32_t> labels) {
  const int64_t needed = least_ctc_steps(labels), steps = speech_steps(frames);
  require(needed <= steps, listed.where, ": ", labels.size(), " labels with ",
          needed - static_cast<int64_t>(labels.size()), " repeats need ", needed, " steps; the ", frames, " frames of ",
          listed.audio, " give ", steps);
}

}  // namespace

Utterances::Utterances(const SourceSpec& spec) {
  const UtteranceList list = list_utterances(spec.path, spec.split);
  root_ = list.root;
  for (const BadFile& file : list.left_out) leave_out(spec, file.path, file.reason);
  for (const ListedUtterance& listed : list.utterances) {
    const std::vector<int32_t> labels = labels_of(listed);
    const int64_t frames = frames_of(root_ / listed.audio);
    require_room(listed, frames, labels);
    add(spec, listed.audio, frames, labels);
  }
  std::ranges::stable_sort(utterances_, {}, &Utterance::frames);
  const std::vector<BadFile> noted = left_out();
  require(!utterances_.empty(), spec.path, " has no utterance that can be used",
          noted.empty() ? "" : cat("; ", noted[0].path, ": ", noted[0].reason));
}

int64_t Utterances::frames_of(const std::filesystem::path& file) {
  const AudioInfo info = audio_info(file);
  const int64_t samples = resampled_length(info.samples, info.rate, kSpeechRate);
  require(samples >= kLeastSpeechSamples, file.string(), ": ", samples,
          " samples at 16 kHz, of which a spectrogram needs ", kLeastSpeechSamples);
  if (info.rate != kSpeechRate) ++other_rates_[info.rate];
  if (info.channels > 1) ++averaged_;
  return spectrogram_frames(samples);
}

void Utterances::add(const SourceSpec& spec, const std::string& audio, int64_t frames,
                     std::span<const int32_t> labels) {
  const std::vector<int64_t>& buckets = spec.speech.buckets;
  const auto bucket = std::ranges::lower_bound(buckets, frames);
  if (bucket == buckets.end())
    return leave_out(spec, audio, cat("longer than the ", buckets.back(), " frames of the largest bucket"));
  if (static_cast<int64_t>(labels.size()) > spec.speech.labels)
    return leave_out(spec, audio, cat("more labels than the ", spec.speech.labels, " that a sample has places for"));
  if (spec.speech.bucket && *bucket != *spec.speech.bucket) return;
  utterances_.push_back(
      {audio, frames, labels_.size(), labels.size(), static_cast<uint16_t>(bucket - buckets.begin())});
  labels_.insert(labels_.end(), labels.begin(), labels.end());
}

void Utterances::leave_out(const SourceSpec& spec, const std::string& audio, const std::string& reason) {
  require(!spec.text.strict, audio, ": ", reason);
  const auto [note, first] = left_out_.try_emplace(reason, Note{.audio = audio});
  if (!first) ++note->second.more;
}

std::vector<BadFile> Utterances::left_out() const {
  std::vector<BadFile> out;
  for (const auto& [reason, note] : left_out_) {
    const std::string more =
        note.more == 0 ? "" : cat(", and ", note.more, note.more == 1 ? " recording" : " recordings", " more");
    out.push_back({note.audio, reason + more});
  }
  return out;
}

std::vector<std::string> Utterances::fitted() const {
  const auto recordings = [](int64_t count) { return cat(count, count == 1 ? " recording" : " recordings"); };
  std::vector<std::string> out;
  for (const auto& [rate, count] : other_rates_)
    out.push_back(cat(recordings(count), " of ", rate, " Hz resampled to ", kSpeechRate));
  if (averaged_ > 0) out.push_back(cat(recordings(averaged_), " of several channels averaged to one"));
  return out;
}

}  // namespace tbd
