// The cases of ops of speech recognition and of games: lengths, masks, gated units, CTC, targets that are shares
// (op_cases.h).
#pragma once
#include "op_cases.h"

namespace tbd {

std::vector<OpCase> speech_cases(const std::string& kind);  // without names; empty for other kinds
std::vector<OpCase> large_speech_cases();

}  // namespace tbd
