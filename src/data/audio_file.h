// Recordings on disk: WAV and FLAC, through libsndfile.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace tbd {

struct AudioInfo {
  int64_t samples = 0;  // of each channel
  int64_t rate = 0;     // samples per second
  int64_t channels = 0;
};

// One channel. Files of integers give [-1, 1); files of floats give what they hold.
struct Audio {
  std::vector<float> samples;
  int64_t rate = 0;
};

// What the file's header says; the recording is not decoded. Throws Error(not_found or io) for a file that is missing
// or cannot be read, Error(invalid) "FILE: ..." for one without bytes or without samples, one that is neither WAV nor
// FLAC, or whose header libsndfile refuses, and for a WAV that is cut off: its data chunk promises more bytes than
// follow.
AudioInfo audio_info(const std::filesystem::path& file);

// The mean of all channels. Throws as audio_info, and Error(invalid) "FILE: ..." for a recording that cannot be
// decoded, that ends before the number of samples in its header, or that holds a value which is no finite number.
Audio read_audio(const std::filesystem::path& file);

// 16 bit a sample, clipped to [-1, 1); `interleaved` holds the channels' samples in turn. A name that ends in .flac
// gives FLAC, any other WAV. Throws Error(io).
void write_audio(const std::filesystem::path& file, std::span<const float> interleaved, int64_t rate,
                 int64_t channels = 1);

}  // namespace tbd
