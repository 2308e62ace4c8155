// Each raw file against what its launch sealed when it ended.
#include "analysis/verify/raw.h"
#include "base/text.h"
#include "record/seal.h"

namespace tbd {
namespace {

std::string shown(const Seal& seal, const std::string& file) {
  const auto found = seal.find(file);
  if (found == seal.end()) return "no such file";
  const FileSeal& of = found->second;
  return cat(of.rows ? cat(*of.rows, " rows, ") : std::string(), of.bytes, " B, sha256 ", of.sha256.substr(0, 12));
}

void check_launch(const Bench& bench, const RawLaunch& launch) {
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

void check_seals(const Bench& bench) {
  for (const RawLaunch& launch : bench.raw.launches) check_launch(bench, launch);
}

}  // namespace tbd
