// For tests of commands: what a command said and how it ended.
#pragma once
#include <sstream>
#include <string>
#include <vector>

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

}  // namespace tbd::cli
