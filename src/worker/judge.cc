#include "worker/judge.h"

#include "base/error.h"
#include "record/picture.h"
#include "worker/detection_judge.h"
#include "worker/image_judge.h"
#include "worker/prediction_judge.h"
#include "worker/span_judge.h"
#include "worker/spelling_judge.h"
#include "worker/translation_judge.h"

namespace tbd {
namespace {

struct Evaluated {
  const SourceSpec& data;
  const Phase& phase;
  const Network& network;
};
struct Entry {
  std::string_view name;
  std::unique_ptr<Judge> (*make)(const Evaluated&);
};
constexpr Entry kJudges[] = {
    {"anchors", [](const Evaluated& what) { return anchor_judge(what.data); }},
    {"regions", [](const Evaluated& what) { return region_judge(what.data); }},
    {"moves", [](const Evaluated&) { return move_judge(); }},
    {"spelling", [](const Evaluated&) { return spelling_judge(); }},
    {"translation", [](const Evaluated& what) { return translation_judge(what.data, what.phase, what.network); }},
    {"spans", [](const Evaluated& what) { return span_judge(what.data); }},
    {"images", [](const Evaluated&) { return image_judge(); }},
};

}  // namespace

std::vector<Picture> Judge::pictures(int64_t) const { return {}; }

std::vector<std::string> judge_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kJudges) names.emplace_back(entry.name);
  return names;
}

std::unique_ptr<Judge> make_judge(const std::string& name, const SourceSpec& data, const Phase& phase,
                                  const Network& network) {
  if (name.empty()) return prediction_judge(phase);
  for (const Entry& entry : kJudges)
    if (entry.name == name) return entry.make({data, phase, network});
  fail(ErrorKind::not_found, unknown_name("judge", name, judge_names()));
}

}  // namespace tbd
