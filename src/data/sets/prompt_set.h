// Speech from the prompts of a telephone exchange (docs/data.md, "The small speech set").
#pragma once
#include <filesystem>
#include <vector>

#include "data/sets/made_set.h"
#include "data/sets/spoken_split.h"
#include "data/source.h"

namespace tbd {

struct PromptSetOptions {
  double val_share = 0.1;  // of the texts
};

struct PromptSetSummary {
  SetSummary set;
  SpokenCounts train, val, held_out;
  std::vector<BadFile> left_out;  // prompts by name
};

// Reads the list core-sounds-en.txt or .txt.gz and the recordings .../sounds/<voice>/NAME.wav below `source_dir`
// (unpacked packages asterisk-core-sounds-en and asterisk-core-sounds-en-wav) and writes out_dir/{train,val} in the
// layout of LibriSpeech, 16 kHz, and out_dir/data.json. A text lies in val where share_of(transcript) < val_share:
// never in both. Where pocketsphinx-testdata lies below source_dir, too, its read sentences become out_dir/held_out, of
// another voice. Left out and named: prompts without a recording, those that prompt_transcript or SpokenSplit refuses.
// Throws Error(not_found or io) when source_dir cannot be read, Error(invalid) when it has no list, gives nothing for
// one of the splits, or out_dir is not empty.
PromptSetSummary make_prompt_set(const std::filesystem::path& source_dir, const std::filesystem::path& out_dir,
                                 const PromptSetOptions& options = {});

}  // namespace tbd
