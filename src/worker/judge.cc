#include "worker/judge.h"

#include "base/error.h"
#include "worker/detection_judge.h"

namespace tbd {
namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<Judge> (*make)(const SourceSpec&);
};
constexpr Entry kJudges[] = {{"anchors", anchor_judge}, {"regions", region_judge}};

}  // namespace

std::vector<std::string> judge_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kJudges) names.emplace_back(entry.name);
  return names;
}

std::unique_ptr<Judge> make_judge(const std::string& name, const SourceSpec& data) {
  for (const Entry& entry : kJudges)
    if (entry.name == name) return entry.make(data);
  fail(ErrorKind::not_found, unknown_name("judge", name, judge_names()));
}

}  // namespace tbd
