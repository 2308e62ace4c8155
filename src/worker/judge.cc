#include "worker/judge.h"

#include "base/error.h"
#include "record/pictures.h"
#include "worker/detection_judge.h"
#include "worker/prediction_judge.h"
#include "worker/spelling_judge.h"

namespace tbd {
namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<Judge> (*make)(const SourceSpec&, const Phase&);
};
constexpr Entry kJudges[] = {
    {"anchors", [](const SourceSpec& data, const Phase&) { return anchor_judge(data); }},
    {"regions", [](const SourceSpec& data, const Phase&) { return region_judge(data); }},
    {"moves", [](const SourceSpec&, const Phase&) { return move_judge(); }},
    {"spelling", [](const SourceSpec&, const Phase&) { return spelling_judge(); }},
};

}  // namespace

std::vector<Picture> Judge::pictures(int64_t) const { return {}; }

std::vector<std::string> judge_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kJudges) names.emplace_back(entry.name);
  return names;
}

std::unique_ptr<Judge> make_judge(const std::string& name, const SourceSpec& data, const Phase& phase) {
  if (name.empty()) return prediction_judge(phase);
  for (const Entry& entry : kJudges)
    if (entry.name == name) return entry.make(data, phase);
  fail(ErrorKind::not_found, unknown_name("judge", name, judge_names()));
}

}  // namespace tbd
