// Transcripts as labels of a network that spells: 0 blank, 1 apostrophe, 2 to 27 A to Z, 28 space.
// The order is that of SeanNaren/deepspeech.pytorch, labels.json.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbd {

inline constexpr int32_t kBlankLabel = 0;
inline constexpr int64_t kLabelCount = 29;

// `text` in the letters of the alphabet: letters of the Latin script become capitals without marks ("é" is E), the
// apostrophe ’ becomes ', dashes become spaces, other punctuation that nobody speaks goes, runs of white space become
// one space and go at the ends. Throws Error(invalid) "'3' (U+0033) at character 7 is outside the alphabet" for what
// has no such form: digits, letters of other scripts, signs that are spoken (# % & * / @ \ _ $ + = ...), control
// characters; and Error(invalid) "an empty transcript" when nothing is left. Characters count from 1. `text` is UTF-8.
std::string normal_transcript(std::string_view text);

// Labels of a normal transcript. Throws Error(invalid) for a character that is not of the alphabet.
std::vector<int32_t> transcript_labels(std::string_view normal);
// The text that labels spell. Throws Error(invalid) for blank and for what is no label.
std::string spelled(std::span<const int32_t> labels);

// Steps that connectionist temporal classification needs to spell `labels`: one each, and a blank between equal
// neighbours. Graves et al. 2006, ICML, section 3.1.
int64_t least_ctc_steps(std::span<const int32_t> labels);
// Steps that the convolutions of deep_speech_2 leave of T frames: floor((T - 1) / 2) + 1.
int64_t speech_steps(int64_t frames);

}  // namespace tbd
