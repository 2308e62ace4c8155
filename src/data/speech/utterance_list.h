// Which recordings a folder of speech has, and what is said in them.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "data/source.h"

namespace tbd {

struct ListedUtterance {
  std::string audio;  // path below the root where it lies there, else the path
  std::string text;   // as written
  std::string where;  // "dev-clean/84/121123/84-121123.trans.txt:3": who says so
};
struct UtteranceList {
  std::filesystem::path root;  // that `audio` is relative to
  std::vector<ListedUtterance> utterances;
  std::vector<BadFile> left_out;  // recordings without a transcript
};

// The split `split` of a data set, in one of three forms:
//   LibriSpeech  folders <speaker>/<chapter>/ (or any depth) that hold <name>.trans.txt, "ID TEXT" a line, and ID.flac
//                or ID.wav. Of training the folders `train` and `train-*` of `path`, of validation `val`, else
//                `dev-clean`, else `dev-other`; a `path` with none of all these is itself the split asked for.
//   manifest     `path`/{train,val}_manifest.{json,csv}, or `path` itself where it is a file: as
//                SeanNaren/deepspeech.pytorch writes them, {"root_path": DIR, "samples": [{"wav_path": FILE,
//                "transcript_path": FILE}, ...]}, or of older versions a line "AUDIO,TRANSCRIPT" each. Relative paths
//                start at root_path and at the manifest's folder. A transcript is a file of one line.
// Listed by path of the transcripts file in byte order and its lines, or as the manifest has them. Throws
// Error(not_found or io) for what is missing or cannot be read, Error(invalid) naming file and line for a line without
// an ID, an ID that occurs twice or has no recording, a malformed manifest, and a split without an utterance.
UtteranceList list_utterances(const std::filesystem::path& path, Split split);

}  // namespace tbd
