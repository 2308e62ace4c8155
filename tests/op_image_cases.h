// The cases of ops that enlarge images or detect what is in them, and of those with a kink at a value (op_cases.h).
#pragma once
#include "op_cases.h"

namespace tbd {

std::vector<OpCase> image_cases(const std::string& kind);  // without names; empty for other kinds
std::vector<OpCase> large_image_cases();

}  // namespace tbd
