// What a report says of a part of a data set that could not be used.
#pragma once
#include <string>

namespace tbd {

// A file, or a line of one ("train.en:17"), that could not be used: in the report it stands once.
struct BadFile {
  std::string path;    // below the root
  std::string reason;  // the decoder's or the system's words
};

}  // namespace tbd
