// Version, hashes, and whether the launches are those that the folder names.
#include <algorithm>
#include <map>

#include "analysis/verify/raw.h"
#include "base/hash.h"
#include "base/text.h"

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

}  // namespace

void check_files(const Bench& bench) {
  check_version(bench);
  check_record_hash(bench);
  check_environment(bench);
  check_launches(bench);
}

}  // namespace tbd
