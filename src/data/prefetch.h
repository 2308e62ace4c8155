// Threads that prepare batches ahead of the step that needs them, in order and in bounded number.
#pragma once
#include <memory>

#include "data/samples.h"
#include "data/source.h"

namespace tbd {

// The source over `samples`. All threads work on single samples of the oldest unfinished batch, so the first batch
// comes early; content does not depend on which thread made what.
std::unique_ptr<Source> prefetching_source(const SourceSpec& spec, std::unique_ptr<Samples> samples);

}  // namespace tbd
