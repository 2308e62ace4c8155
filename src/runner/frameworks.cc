#include "runner/frameworks.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace tbd {
namespace {

constexpr KnownFramework kFrameworks[] = {
    {.name = "pytorch", .label = "PyTorch"},
    {.name = "tensorflow", .label = "TensorFlow", .layout = "nhwc"},
    {.name = "mxnet", .label = "MXNet", .retired = true},
};

}  // namespace

std::span<const KnownFramework> known_frameworks() { return kFrameworks; }

const KnownFramework* find_framework(std::string_view name) {
  const auto* found = std::ranges::find(kFrameworks, name, &KnownFramework::name);
  return found == std::end(kFrameworks) ? nullptr : found;
}

std::string usual_layout(std::string_view framework) {
  const KnownFramework* found = find_framework(framework.substr(0, framework.find('@')));
  return found ? std::string(found->layout) : "nchw";
}

std::string framework_note(std::string_view name) {
  const KnownFramework* framework = find_framework(name);
  return framework && framework->retired ? "retired upstream" : "";
}

std::string absence_reason(std::string_view name, const std::filesystem::path& build_folder) {
  const std::filesystem::path left = build_folder / "absent" / name;
  if (std::filesystem::exists(left))
    if (const std::string reason(trim(read_file(left))); !reason.empty()) return reason;
  return cat("not built here; './tbd setup --frameworks ", name, "' fetches and builds it");
}

}  // namespace tbd
