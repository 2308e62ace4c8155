// A picture that shows what a network of a record makes: detections, samples of a generator.
#pragma once
#include <string>

namespace tbd {

struct Picture {
  std::string file;     // "street.png": a name without a folder
  std::string title;    // what it is, in a few words
  std::string caption;  // what is drawn, with its counts
  std::string png;      // the file's bytes
};

}  // namespace tbd
