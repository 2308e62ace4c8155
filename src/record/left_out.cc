#include "record/left_out.h"

#include <set>

#include "base/files.h"
#include "base/json.h"
#include "record/reader.h"

namespace tbd {
namespace {

constexpr int kVersion = 1;
constexpr const char* kFile = "left-out.json";

}  // namespace

std::string left_out_text(const LeftOut& left_out) {
  Json rows = Json::array();
  for (const LeftOutCell& each : left_out.cells)
    rows.push_back({{"cell", each.cell},
                    {"repro", each.repro},
                    {"predicted_seconds", each.predicted_seconds},
                    {"reason", each.reason}});
  const Json whole = {
      {"version", kVersion}, {"budget_seconds", or_null(left_out.budget_seconds)}, {"left_out", std::move(rows)}};
  return whole.dump(1) + "\n";
}

LeftOut left_out_from(std::string_view text, std::string_view where) try {
  const Json whole = parse_json(text, where);
  const int version = at<int>(whole, "version");
  require(version == kVersion, "version ", version, " is not supported, ", kVersion, " is");
  LeftOut out{.budget_seconds = maybe<double>(whole, "budget_seconds"), .cells = {}};
  for (const Json& row : at<Json>(whole, "left_out"))
    out.cells.push_back({.cell = at<std::string>(row, "cell"),
                         .repro = at<std::string>(row, "repro"),
                         .predicted_seconds = at<double>(row, "predicted_seconds"),
                         .reason = at<std::string>(row, "reason")});
  return out;
} catch (const Error& e) {
  throw e.within(where);
}

std::vector<LeftOut> read_left_out(std::span<const std::filesystem::path> places,
                                   const std::filesystem::path& results) {
  std::vector<LeftOut> all;
  std::set<std::filesystem::path> seen;
  for (const std::filesystem::path& place : places) {
    // A result set is the folder that holds the records found at the place.
    const std::filesystem::path set = place == "@latest" ? find_records(place, results).front().parent_path() : place;
    if (std::filesystem::is_regular_file(set / kFile) && seen.insert(std::filesystem::canonical(set / kFile)).second)
      all.push_back(left_out_from(read_file(set / kFile), (set / kFile).string()));
  }
  return all;
}

}  // namespace tbd
