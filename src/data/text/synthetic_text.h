// Text of drawn words and lengths, for measuring without a data set.
#pragma once
#include <memory>

#include "data/samples.h"

namespace tbd {

// The inputs of spec.text.task, distributed as docs/data.md says (word_law.h). Draws of a sample: stream
// data/synthetic_text (step, sample = slot), of a batch's bucket: data/synthetic_bucket (step). No end.
std::unique_ptr<Samples> synthetic_text_samples(const SourceSpec& spec);

}  // namespace tbd
