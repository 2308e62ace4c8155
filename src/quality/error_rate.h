// Word and character error rate of what a speech network spelled.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tbd {

// Edits of a corpus: sums over its utterances, so that a long utterance weighs more than a short one.
struct ErrorCount {
  int64_t edits = 0;      // insertions, deletions, substitutions (edit_distance.h)
  int64_t reference = 0;  // words or characters that should have been spelled
  // edits / reference, above 1 where more was spelled than said. nullopt where nothing was said. An utterance with an
  // empty reference adds what was spelled for it to the edits and nothing to the reference.
  std::optional<double> rate() const;
  bool operator==(const ErrorCount&) const = default;
};

// `references` and `spelled` pair by pair. Words stand between spaces. Characters are bytes of the alphabet of
// data/transcripts.h without spaces, as SeanNaren/deepspeech.pytorch, decoder.py, counts them. Throws Error(invalid)
// when there are more of one than of the other.
ErrorCount word_errors(std::span<const std::string> references, std::span<const std::string> spelled);
ErrorCount character_errors(std::span<const std::string> references, std::span<const std::string> spelled);

}  // namespace tbd
