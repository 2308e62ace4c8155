// What `tbd data` does, one file each.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "cli/command.h"
#include "data/source.h"

namespace tbd::cli {

// The known data sets, and where the set-up has made one.
void list_data_sets(const Context& context, const OutputOptions& output);

// Makes the small set `what`: photos, prompts, crops or stamps of unpacked packages below `source`, games by having
// GNU Go play them. Throws Error(usage) for another name or a size that is none.
struct MakeRequest {
  std::string what, source, out;
  int64_t games = 200, board = 0, seed = 1;  // of games; board 0: 9
  std::string size = {};                     // of crops: "64"; of stamps: "640x480"
  int64_t images = 400, categories = 0;      // of stamps; categories 0: all
  int64_t objects = 8;                       // of stamps: in a picture at most
  std::string sides = {};                    // of stamps: longer sides of objects, "24-320"
};
int64_t square_side(const std::string& size);  // "64"; Error(usage) for what is no number
void make_data_set(Context& context, const OutputOptions& output, const MakeRequest& request);

// Reads all of a folder and says what is in it; kVerdictFailed when a file cannot be used.
int check_data_set(Context& context, const OutputOptions& output, const SourceSpec& spec);

}  // namespace tbd::cli
