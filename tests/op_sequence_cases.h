// The cases of ops on tokens, positions and sequences, and of those that cut, join and turn tensors (op_cases.h).
#pragma once
#include "op_cases.h"

namespace tbd {

std::vector<OpCase> sequence_cases(const std::string& kind);  // without names; empty for other kinds
// Larger ones, and those whose gradient is none of their result's: an embedding's padding row.
std::vector<OpCase> large_sequence_cases();

}  // namespace tbd
