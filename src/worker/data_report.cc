#include "worker/data_report.h"

#include "base/json.h"

namespace tbd {

Json data_report(const SourceStatistics& statistics, const std::optional<std::string>& data_hash) {
  Json bad = Json::array();
  for (const BadFile& file : statistics.bad_files) {
    if (bad.size() == 20) break;  // the count tells the rest
    bad.push_back({{"path", file.path}, {"reason", file.reason}});
  }
  Json data = {{"images", statistics.images},
               {"cpu_seconds", statistics.cpu_seconds},
               {"waited_seconds", statistics.waited_seconds},
               {"waits", statistics.waits},
               {"bad_file_count", statistics.bad_files.size()},
               {"bad_files", bad}};
  if (!statistics.notes.empty()) data["notes"] = statistics.notes;
  if (data_hash) data["hash"] = *data_hash;
  return data;
}

}  // namespace tbd
