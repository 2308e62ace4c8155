// The WordPiece vocabulary that a data set comes with, or one trained on its text.
#pragma once
#include <functional>
#include <optional>

#include "data/source.h"
#include "data/text/wordpiece.h"

namespace tbd {

// path/vocab.txt, or path/<vocabulary_file>; nullopt where there is none. Throws as read_wordpiece, and
// Error(not_found) for a named file that is missing.
std::optional<WordPiece> given_wordpiece(const SourceSpec& spec);
// The given one, else one of spec.text.vocabulary pieces (0: 30,522) trained on the words that `count` counts.
WordPiece wordpiece_of(const SourceSpec& spec, const std::function<void(WordCounts&)>& count);

}  // namespace tbd
