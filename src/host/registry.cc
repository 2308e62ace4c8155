#include "host/registry.h"

#include "host/detection/calls.h"
#include "host/top_rows.h"

namespace tbd {
namespace {

struct Entry {
  std::string_view name;
  HostFunction function;
};
constexpr Entry kFunctions[] = {{"top_rows", top_rows},
                                {"select_proposals", detection::call_select_proposals},
                                {"sample_rois", detection::call_sample_rois},
                                {"proposal_rois", detection::call_proposal_rois},
                                {"select_detections", detection::call_select_detections},
                                {"roi_plan", detection::call_roi_plan}};

}  // namespace

std::vector<std::string> host_function_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kFunctions) names.emplace_back(entry.name);
  return names;
}

HostFunction find_host_function(std::string_view name) {
  for (const Entry& entry : kFunctions)
    if (entry.name == name) return entry.function;
  fail(ErrorKind::not_found, unknown_name("host function", name, host_function_names()));
}

}  // namespace tbd
