#include "runner/resume.h"

#include <algorithm>

#include "base/files.h"
#include "base/json.h"
#include "record/axes.h"
#include "runner/run.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

fs::path aside(const fs::path& folder) { return folder.string() + ".old"; }
bool holds_record(const fs::path& folder) { return fs::exists(folder / "run.json"); }

template <class Change>
void on_disk(const fs::path& path, Change change) try {
  change();
} catch (const fs::filesystem_error& e) {
  fail(ErrorKind::io, "cannot change ", path.string(), ": ", e.code().message());
}

bool finished(const LaunchInfo& launch) { return launch.outcome.kind != OutcomeKind::interrupted; }
bool went_well(OutcomeKind kind) { return kind == OutcomeKind::ok || kind == OutcomeKind::unsteady; }
bool not_here(OutcomeKind kind) { return kind == OutcomeKind::unsupported || kind == OutcomeKind::unavailable; }

std::optional<LaunchInfo> whole_launch(const fs::path& folder) {
  const fs::path file = folder / "launch.json";
  if (!fs::exists(file)) return std::nullopt;
  try {
    LaunchInfo info = launch_from_json(parse_json(read_file(file), file.string()));
    return finished(info) ? std::optional(std::move(info)) : std::nullopt;
  } catch (const Error& e) {
    throw e.within(file.string());
  }
}

void find_launches(const fs::path& record, const std::vector<Pass>& passes, Begun& begun) {
  if (!fs::exists(record / "launches")) return;
  for (const fs::directory_entry& entry : fs::directory_iterator(record / "launches")) {
    if (!entry.is_directory()) continue;
    std::optional<LaunchInfo> launch = whole_launch(entry.path());
    if (!launch)
      begun.cut.push_back(fs::path("launches") / entry.path().filename());
    else if (std::ranges::count(passes, launch->pass) > 0) {
      begun.numbers[launch->pass].insert(launch->number);
      begun.launches.push_back(std::move(*launch));
    }
  }
  const auto place = [&](const LaunchInfo& launch) {
    return std::pair(std::ranges::find(passes, launch.pass) - passes.begin(), launch.number);
  };
  std::ranges::sort(begun.launches, {}, place);
}

bool lacks_launches(const Begun& begun, const std::vector<Pass>& passes, int64_t launches) {
  for (const Pass& pass : passes)
    for (int64_t number = 1; number <= (pass == Pass::kClean ? launches : 1); ++number)
      if (!begun.numbers.contains(pass) || !begun.numbers.at(pass).contains(number)) return true;
  return false;
}

// Of a run whose end was never written, what its launches say.
Outcome outcome_so_far(const Begun& begun) {
  if (begun.run.state == RunState::complete) return begun.run.outcome;
  for (const LaunchInfo& launch : begun.launches)
    if (!went_well(launch.outcome.kind) && !not_here(launch.outcome.kind)) return launch.outcome;
  return begun.launches.empty() ? Outcome{} : begun.launches.front().outcome;
}

Begun::State state_of(const Begun& begun, const PreparedCell& prepared, const RunOptions& options, int64_t launches) {
  const OutcomeKind kind = outcome_so_far(begun).kind;
  const bool measured = begun.run.state == RunState::complete || !begun.launches.empty();
  if (measured && std::ranges::count(options.again, kind) > 0) return Begun::State::replaced;
  if (begun.run.state != RunState::complete) return Begun::State::partial;
  if (kind == OutcomeKind::skipped && begun.launches.empty() && !prepared.refused) return Begun::State::replaced;
  if (went_well(kind) && lacks_launches(begun, options.passes, launches)) return Begun::State::partial;
  return Begun::State::complete;
}

// "limits.affinity 0-1 there, 0 here; ...", of what the hash of the environment covers.
std::string changes(const Json& there, const Json& here) {
  std::vector<std::string> found;
  for (const char* group : {"cpu", "limits", "software", "variables"}) {
    const Json a = there.value(group, Json::object()), b = here.value(group, Json::object());
    for (const auto& [key, value] : b.items())
      if (!a.contains(key) || a[key] != value)
        found.push_back(
            cat(group, ".", key, " ", a.contains(key) ? a[key].dump() : "absent", " there, ", value.dump(), " here"));
    for (const auto& [key, value] : a.items())
      if (!b.contains(key)) found.push_back(cat(group, ".", key, " ", value.dump(), " there, absent here"));
  }
  return join(found, "; ");
}

// Why a further launch may not lie beside these, with which it would be averaged: they are of another machine or build,
// or it cannot be made.
std::string elsewhere(const Begun& begun, const PreparedCell& prepared, const Json& here) {
  const Json& there = begun.run.environment;
  const auto begun_so = [](const std::string& what) {
    return cat("was begun ", what, ": resuming would mix launches of both; resume there, or choose another --out");
  };
  if (maybe<std::string>(there, "hash") != maybe<std::string>(here, "hash"))
    return begun_so(cat("on another machine or with other settings (", changes(there, here), ")"));
  const std::string was = maybe<std::string>(there.value("framework", Json::object()), "library_sha256").value_or("");
  const std::string is = prepared.worker ? prepared.worker->library_sha256 : "";
  if (!was.empty() && !is.empty() && was != is) return begun_so("with another build of the framework");
  return prepared.refused ? cat("cannot be resumed: ", prepared.refused->reason) : "";
}

}  // namespace

std::string difference(const MeasuredWorkload& there, const MeasuredWorkload& wanted, bool mode_is_wanted) {
  std::string found;
  const auto compare = [&](std::string_view what, const auto& a, const auto& b) {
    if (found.empty() && a != b) found = cat(what, " ", a, " there, ", b, " wanted");
  };
  const auto kind = [](const std::string& optimizer) { return optimizer.substr(0, optimizer.find(' ')); };
  const auto text = [](const Axis& axis, const Workload& w) { return axis.value(w).empty() ? "none" : axis.value(w); };
  for (const Axis& axis : axes())
    if (axis.name != "mode" || mode_is_wanted) compare(axis.name, text(axis, there), text(axis, wanted));
  compare("effort", there.effort, wanted.effort);
  compare("optimizer", kind(there.optimizer), kind(wanted.optimizer));
  compare("network", there.model_hash, wanted.model_hash);
  compare("network after its passes", there.lowered_hash, wanted.lowered_hash);
  return found;
}

Begun look_at(const fs::path& folder, const PreparedCell& prepared, const RunOptions& options, int64_t launches,
              const Json& environment) {
  Begun begun;
  const fs::path place = !holds_record(folder) && holds_record(aside(folder)) ? aside(folder) : folder;
  if (!holds_record(place)) return begun;
  try {
    begun.run = run_from_json(parse_json(read_file(place / "run.json"), "run.json"));
  } catch (const Error& e) {
    throw e.within(place.string());
  }
  const std::string other = difference(begun.run.workload, prepared.run.workload, !prepared.cell.mode.empty());
  if (!other.empty()) fail(ErrorKind::usage, folder.string(), " holds another workload: ", other);
  find_launches(place, options.passes, begun);
  begun.state = state_of(begun, prepared, options, launches);
  const bool goes_on = begun.state == Begun::State::partial && lacks_launches(begun, options.passes, launches) &&
                       (begun.run.state == RunState::complete || went_well(outcome_so_far(begun).kind));
  if (!begun.launches.empty()) begun.elsewhere = elsewhere(begun, prepared, environment);
  if (goes_on && !begun.elsewhere.empty()) fail(ErrorKind::usage, folder.string(), " ", begun.elsewhere);
  return begun;
}

void clear_remains(const fs::path& folder, const Begun& begun) {
  on_disk(folder, [&] {
    if (!holds_record(folder) && holds_record(aside(folder))) {
      fs::remove_all(folder);  // a successor without run.json holds nothing
      fs::rename(aside(folder), folder);
    }
    if (!fs::exists(folder)) return;
    std::vector<fs::path> halves;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".part") halves.push_back(entry.path());
    for (const fs::path& half : halves) fs::remove(half);
    if (begun.state != Begun::State::replaced)
      for (const fs::path& launch : begun.cut) fs::remove_all(folder / launch);
  });
  if (begun.state == Begun::State::complete) remove_aside(folder);
}

void move_aside(const fs::path& folder) {
  if (!holds_record(folder)) return;
  remove_aside(folder);
  on_disk(folder, [&] { fs::rename(folder, aside(folder)); });
}

void remove_aside(const fs::path& folder) {
  on_disk(folder, [&] { fs::remove_all(aside(folder)); });
}

}  // namespace tbd
