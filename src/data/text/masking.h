// Masked positions of a sequence. Devlin et al. 2018, arXiv:1810.04805, section 3.1; google-research/bert
// create_pretraining_data.py.
#pragma once
#include <span>
#include <vector>

#include "data/text/draws.h"

namespace tbd {

struct MaskPolicy {
  int32_t mask = 0;        // the id of [MASK]
  int64_t vocabulary = 0;  // random tokens are below it
  int64_t most = 20;       // positions at most
};
struct MaskedToken {
  int32_t position = 0, label = 0;
};
// Takes min(most, max(1, round(0.15 length))) of the `candidates` (positions in `tokens`, whose whole length counts;
// half is rounded to even) without replacement: 80 % become [MASK], 10 % a random token, 10 % stay. By position.
std::vector<MaskedToken> mask_tokens(std::span<int32_t> tokens, std::vector<int32_t> candidates,
                                     const MaskPolicy& policy, Draws& draws);

}  // namespace tbd
