// Manifests of speech, as SeanNaren/deepspeech.pytorch writes them (utterance_list.h has their form).
#pragma once
#include <filesystem>

#include "data/speech/utterance_list.h"

namespace tbd {

// The manifest of a split; empty where there is none.
std::filesystem::path find_manifest(const std::filesystem::path& path, Split split);
// Throws as list_utterances.
UtteranceList read_manifest(const std::filesystem::path& manifest);

}  // namespace tbd
