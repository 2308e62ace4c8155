// The frameworks that the program has back-ends for, whether their workers are built here or not: the rows of
// deps/frameworks.txt.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/workload_words.h"

namespace tbd {

struct KnownFramework {
  std::string_view name;             // as --framework and workers.json say it
  std::string_view label;            // as its makers write it
  std::string_view layout = "nchw";  // physical layout of images in which it is usually run on a CPU
  double start_seconds = 3;          // from the start of a worker to its first step, library pages in memory
  bool retired = false;              // no longer developed upstream; every row of it is flagged so
  bool first = false;                // quickstart trains in it, and a set-up without names makes it ready
};

std::span<const KnownFramework> known_frameworks();
const KnownFramework* find_framework(std::string_view name);  // nullptr when unknown: a worker of somebody's own
// "pytorch, tensorflow, mxnet", in the order of the table.
std::string known_framework_names(std::string_view separator = ", ");
// Of "pytorch" or "pytorch@2.1"; those of a KnownFramework's defaults when unknown.
ImageLayout usual_layout(std::string_view framework);
double usual_start_seconds(std::string_view framework);

// What a person is told beside the name: "retired upstream", or nothing.
std::string framework_note(std::string_view name);

}  // namespace tbd
