// Deep Speech 2 for clips of any length.
#pragma once
#include "models/model.h"

namespace tbd {

// The config's program whose clips are `frames` frames of 10 ms long (a bucket's bound): only the shapes of `spect` and
// of what follows it differ. Error(invalid) on an unknown config.
Program deep_speech_2_of(std::string_view config, int64_t frames);

}  // namespace tbd
