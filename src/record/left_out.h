// What a report has to do without: what a time budget left out of a result set, whose file is left-out.json
// (docs/record.md), and records that cannot be read.
#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbd {

struct LeftOutCell {
  std::string cell;   // its name
  std::string repro;  // the command line that measures it
  double predicted_seconds = 0;
  std::string reason;  // one sentence
};

struct UnreadableRecord {
  std::string folder;
  std::string reason;  // one sentence, which names the file
};

struct LeftOut {
  std::optional<double> budget_seconds;
  std::vector<LeftOutCell> cells;
  std::vector<UnreadableRecord> unreadable;  // in no file: found when the set is read
};

std::string left_out_text(const LeftOut& left_out);                    // the file's content
LeftOut left_out_from(std::string_view text, std::string_view where);  // throws Error(invalid)
// Of each of the places that is a result set with such a file, or "@latest" under `results`.
std::vector<LeftOut> read_left_out(std::span<const std::filesystem::path> places,
                                   const std::filesystem::path& results = "results");

}  // namespace tbd
