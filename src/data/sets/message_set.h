// Parallel text from the message catalogues of programs (docs/data.md, "The small text sets").
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "data/sets/made_set.h"
#include "data/source.h"

namespace tbd {

struct MessageSetOptions {
  std::string language = "de";  // of the translations: de, vi, ...
  double val_share = 0.05;      // of the source sentences
  int64_t least_words = 3;      // of a source sentence
};

struct MessageSetSummary {
  SetSummary set;
  int64_t train_pairs = 0, val_pairs = 0;
  std::vector<BadFile> left_out;  // catalogues that could not be read
};

// Reads every catalogue <language>/LC_MESSAGES/*.mo below `source_dir` (unpacked packages) and writes
// out_dir/{train,val}.{en,<language>}, one tokenised sentence a line, and out_dir/data.json. Left out: source sentences
// of fewer than least_words words, translations without a word or equal to their source, pairs that came before. A
// source sentence lies in val where share_of(sentence) < val_share: never in both. Catalogues that cannot be read are
// left out and named with the reason. Throws Error(not_found or io) when source_dir cannot be read, Error(invalid) when
// it gives no pair of one of the splits or out_dir is not empty.
MessageSetSummary make_message_set(const std::filesystem::path& source_dir, const std::filesystem::path& out_dir,
                                   const MessageSetOptions& options = {});

}  // namespace tbd
