// Whether a folder holds what its reader needs: every file and every sample is read once.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "data/source.h"

namespace tbd {

struct CheckedSplit {
  Split split = Split::train;
  int64_t samples = 0;                          // that the reader gives, one batch of one after the other
  std::optional<double> tokens;                 // of text, without padding
  std::optional<double> slots;                  // of text, with padding
  std::optional<double> seconds, second_slots;  // of speech, without and with padding
  std::optional<int64_t> objects;               // of pictures with boxes
  std::vector<BadFile> left_out;
  std::vector<std::string> notes;  // SourceStatistics::notes
  bool faulty = false;             // files among them cannot be used: the folder is not as it should be
};
struct CheckedData {
  std::vector<CheckedSplit> splits;                      // those that the folder has
  std::optional<int64_t> vocabulary, target_vocabulary;  // tokens with special ones; the target's where it has its own
  std::optional<int64_t> classes;                        // of images
  std::optional<std::string> recorded_hash;              // content_sha256 of data.json
  bool as_recorded = false;                              // the files have that hash
};

// Opens both splits of `spec` with the reader of its kind (training text may not be missing) and walks one epoch of
// each; images are decoded whole. Of pictures with boxes
// the notes say how many objects they have and how large these are. batch, threads, duplicates and split of `spec` are
// ours to set. Files and lines that the reader leaves out are listed; what it refuses is thrown, as open_source says.
CheckedData check_data(const SourceSpec& spec);

}  // namespace tbd
