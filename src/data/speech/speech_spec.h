// What a source of speech is asked for: the part of SourceSpec that images and text do not need.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

namespace tbd {

struct SpeechSpec {
  bool wanted = false;  // of synthetic data: speech, neither images nor text
  // Frames of a padded utterance, ascending; an utterance goes to the first that holds it.
  std::vector<int64_t> buckets = {200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200, 1300, 1400, 1500, 1600};
  std::optional<int64_t> bucket;  // one of them: batches come from it alone
  int64_t labels = 300;           // places for labels of an utterance
  bool operator==(const SpeechSpec&) const = default;
};
nlohmann::ordered_json to_json_value(const SpeechSpec& spec);
// Throws Error(invalid) naming the key; absent keys keep what `spec` has.
void from_json_value(const nlohmann::ordered_json& json, SpeechSpec& spec);
// Throws Error(invalid) for extents or buckets that make no sense.
void check(const SpeechSpec& spec);

}  // namespace tbd
