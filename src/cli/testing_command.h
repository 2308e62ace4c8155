// For tests of commands: what a command said and how it ended.
#pragma once
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/command.h"

namespace tbd::cli {

struct Said {
  int code = 0;
  std::string out, err;
};

// Runs `tbd ARGUMENTS`; folders of the context are those given.
inline Said said_by(std::vector<std::string> arguments, const std::filesystem::path& cache = {},
                    const std::filesystem::path& build = {}, const std::filesystem::path& source = {}) {
  std::ostringstream out, err;
  Context context{.out = out, .err = err, .environment = {{"HOME", cache.parent_path().string()}}};
  context.cache_folder = cache;
  context.build_folder = build;
  context.source_folder = source;
  context.arguments = std::move(arguments);
  const int code = run_program(context);
  return {code, out.str(), err.str()};
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  lines.pop_back();
  return lines;
}

inline size_t widest(const std::string& text) {
  size_t width = 0;
  for (const std::string& line : lines_of(text)) width = std::max(width, line.size());
  return width;
}

}  // namespace tbd::cli
