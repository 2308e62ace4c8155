#include "record/reader.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "record/steps.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

// The whole text of a file that is read, folded into the record's hash.
std::string read_hashed(const fs::path& path, std::string& folded) {
  std::string text = read_file(path);
  folded += sha256_hex(text);
  return text;
}

template <class Parse>
auto within_file(const fs::path& path, Parse parse) {
  try {
    return parse();
  } catch (const Error& error) {
    const bool named = std::string_view(error.what()).find(path.string()) != std::string_view::npos;
    throw named ? error : error.within(path.string());
  }
}

[[noreturn]] void cannot_read(const fs::path& path, const std::error_code& code) {
  fail(ErrorKind::io, "cannot read ", path.string(), ": ", code.message());
}

// Whether it is there; what cannot be looked at is neither.
bool is_there(const fs::path& path) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (!fs::status_known(status)) cannot_read(path, code);
  return fs::exists(status);
}

// None where there is no such folder.
std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> found;
  if (!is_there(folder)) return found;
  std::error_code code;
  const fs::directory_iterator entries(folder, code);
  if (code) cannot_read(folder, code);
  for (const fs::directory_entry& entry : entries) {
    std::error_code ignored;
    if (entry.is_directory(ignored)) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

Launch read_launch(const fs::path& folder, std::string& folded) {
  Launch launch;
  const fs::path facts = folder / "launch.json";
  launch.info =
      within_file(facts, [&] { return launch_from_json(parse_json(read_hashed(facts, folded), facts.string())); });
  const fs::path steps = folder / "steps.csv";
  if (is_there(steps))
    launch.steps = within_file(steps, [&] { return parse_steps(read_hashed(steps, folded), launch.dropped_lines); });
  return launch;
}

// What a run without a written end says of itself.
Outcome interrupted(const Record& record) {
  const std::string how_far = record.launches.empty()
                                  ? "before its first launch"
                                  : cat("in launch ", record.launches.back().info.folder_name(), ", of which ",
                                        record.launches.back().steps.size(), " steps are readable");
  return {.kind = OutcomeKind::interrupted,
          .reason = "the run's end was never written: it was stopped or still runs, " + how_far,
          .repro = record.run.workload.repro};
}

bool by_pass_and_number(const Launch& a, const Launch& b) {
  return std::pair(a.info.pass, a.info.number) < std::pair(b.info.pass, b.info.number);
}

fs::path latest_in(const fs::path& results) {
  const std::vector<fs::path> folders = folders_in(results);
  if (folders.empty())
    fail(ErrorKind::not_found, "@latest: there is no result in ", results.string(), "; measure with tbd run first");
  return folders.back();
}

bool is_record(const fs::path& folder) { return is_there(folder / "run.json"); }

}  // namespace

Record read_record(const fs::path& folder) {
  const fs::path file = folder / "run.json";
  if (!is_there(file)) fail(ErrorKind::not_found, folder.string(), " holds no record: run.json is missing");
  Record record;
  record.folder = folder;
  std::string folded;
  record.run = within_file(file, [&] { return run_from_json(parse_json(read_hashed(file, folded), file.string())); });
  for (const fs::path& launch : folders_in(folder / "launches"))
    if (is_there(launch / "launch.json")) record.launches.push_back(read_launch(launch, folded));
  std::ranges::stable_sort(record.launches, by_pass_and_number);
  record.hash = sha256_hex(folded);
  if (record.run.state == RunState::running) {
    record.run.state = RunState::interrupted;
    record.run.outcome = interrupted(record);
  }
  return record;
}

std::vector<fs::path> find_records(const fs::path& path, const fs::path& results) {
  const fs::path place = path == "@latest" ? latest_in(results) : path;
  if (!is_there(place)) fail(ErrorKind::not_found, place.string(), " does not exist");
  if (is_record(place)) return {place};
  std::vector<fs::path> found = folders_in(place);
  std::erase_if(found, [](const fs::path& folder) { return !is_record(folder) || folder.extension() == ".old"; });
  if (found.empty()) fail(ErrorKind::not_found, place.string(), " holds no record");
  return found;
}

std::vector<Record> read_records(std::span<const fs::path> paths, std::vector<UnreadableRecord>& unreadable,
                                 const fs::path& results) {
  std::vector<Record> records;
  std::set<fs::path> seen;
  std::optional<Error> first;
  for (const fs::path& path : paths)
    for (const fs::path& folder : find_records(path, results)) try {
        if (seen.insert(fs::canonical(folder)).second) records.push_back(read_record(folder));
      } catch (const Error& e) {
        unreadable.push_back({folder.string(), e.what()});
        if (!first) first = e;
      }
  if (records.empty() && first) throw *first;
  return records;
}

}  // namespace tbd
