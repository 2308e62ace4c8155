// Version, hashes, whether the launches are those that the folder names, and each raw file against what its launch
// sealed when it ended.
#include <algorithm>
#include <map>

#include "analysis/verify/raw.h"
#include "base/hash.h"
#include "base/text.h"
#include "record/seal.h"

namespace tbd {
namespace {

void check_version(const Bench& bench) {
  const auto version = maybe<int64_t>(bench.raw.run, "version");
  if (!version) return bench.differs("schema version", "absent", cat(kRecordVersion));
  bench.holds("schema version", *version >= 1 && *version <= kRecordVersion, cat(*version), cat(kRecordVersion));
}

// SHA-256 over the hashes of run.json and, launch by launch, of launch.json and steps.csv.
void check_record_hash(const Bench& bench) {
  std::string folded = sha256_hex(bench.raw.run_text);
  for (const RawLaunch& launch : bench.raw.launches) {
    folded += sha256_hex(launch.facts_text);
    if (launch.has_steps) folded += sha256_hex(launch.steps_text);
  }
  const std::string computed = sha256_hex(folded);
  bench.holds("record hash", bench.record.hash == computed, bench.record.hash, computed);
}

void check_environment(const Bench& bench) {
  const Json environment = maybe<Json>(bench.raw.run, "environment").value_or(Json::object());
  const auto stored = maybe<std::string>(environment, "hash");
  if (!stored) return bench.unknown("environment hash", "run.json holds none");
  Json identity = Json::object();
  for (const char* group : {"cpu", "limits", "software", "variables"})
    if (environment.contains(group)) identity[group] = environment[group];
  const std::string computed = sha256_hex(identity.dump());
  bench.holds("environment hash", *stored == computed, *stored, computed);
  for (const RawLaunch& launch : bench.raw.launches)
    if (const auto of = maybe<std::string>(launch.info, "environment_hash"); of && !of->empty())
      bench.holds(launch.folder + ": environment hash", *of == *stored, *of, *stored);
}

void check_launches(const Bench& bench) {
  std::map<std::string, std::vector<int64_t>> numbers;
  for (const RawLaunch& launch : bench.raw.launches) {
    const auto pass = maybe<std::string>(launch.info, "pass").value_or("");
    const int64_t number = maybe<int64_t>(launch.info, "number").value_or(0);
    bench.holds(launch.folder + ": name", launch.folder == cat(pass, "-", number), cat(pass, "-", number),
                launch.folder);
    numbers[pass].push_back(number);
  }
  for (auto& [pass, seen] : numbers) {
    std::ranges::sort(seen);
    const auto count = static_cast<int64_t>(seen.size());
    bench.holds(cat("launches of pass ", pass), seen.front() == 1 && seen.back() == count, cat(count, " launches"),
                cat("numbers ", seen.front(), " to ", seen.back()));
  }
}

std::string shown(const Seal& seal, const std::string& file) {
  const auto found = seal.find(file);
  if (found == seal.end()) return "no such file";
  const FileSeal& of = found->second;
  return cat(of.rows ? cat(*of.rows, " rows, ") : std::string(), of.bytes, " B, sha256 ", of.sha256.substr(0, 12));
}

void check_seal(const Bench& bench, const RawLaunch& launch) {
  const auto files = maybe<Json>(launch.info, "files");
  if (!files)
    return bench.unknown(launch.folder + ": raw files",
                         "not sealed: the launch's end was never written, or an older tbd wrote it");
  const Seal sealed = seal_from_json(*files), found = seal_of(bench.raw.folder / "launches" / launch.folder);
  Seal all = sealed;
  all.insert(found.begin(), found.end());
  for (const auto& [file, ignored] : all) {
    const std::string check = cat(launch.folder, ": ", file, " as sealed");
    const auto then = sealed.find(file), now = found.find(file);
    if (then != sealed.end() && now != found.end() && then->second == now->second)
      bench.ok(check);
    else
      bench.differs(check, shown(sealed, file), shown(found, file), "the file changed after the launch ended");
  }
}

}  // namespace

void check_files(const Bench& bench) {
  check_version(bench);
  check_record_hash(bench);
  check_environment(bench);
  check_launches(bench);
  for (const RawLaunch& launch : bench.raw.launches) check_seal(bench, launch);
}

}  // namespace tbd
