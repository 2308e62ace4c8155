#include "record/frameworks.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace tbd {
namespace {

// The row of "pytorch@2.1" is that of "pytorch".
KnownFramework usual(std::string_view key) {
  const KnownFramework* found = find_framework(key.substr(0, key.find('@')));
  return found ? *found : KnownFramework{};
}

}  // namespace

const KnownFramework* find_framework(std::string_view name) {
  const auto found = std::ranges::find(known_frameworks(), name, &KnownFramework::name);
  return found == known_frameworks().end() ? nullptr : &*found;
}

std::string known_framework_names(std::string_view separator) {
  std::vector<std::string> names;
  for (const KnownFramework& each : known_frameworks()) names.emplace_back(each.name);
  return join(names, separator);
}

ImageLayout usual_layout(std::string_view framework) { return ImageLayout(std::string(usual(framework).layout)); }
double usual_start_seconds(std::string_view framework) { return usual(framework).start_seconds; }

std::string framework_note(std::string_view name) {
  const KnownFramework* framework = find_framework(name);
  return framework && framework->retired ? "retired upstream" : "";
}

}  // namespace tbd
