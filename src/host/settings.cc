#include "host/settings.h"

#include <algorithm>

#include "base/text.h"

namespace tbd {

void refuse_unknown_settings(std::string_view function, const HostNumbers& numbers,
                             std::initializer_list<std::string_view> known) {
  const std::vector<std::string> names(known.begin(), known.end());
  for (const auto& [name, values] : numbers)
    if (std::ranges::find(names, name) == names.end())
      fail(ErrorKind::invalid, function, ": ", unknown_name("setting", name, names));
}

double setting(std::string_view function, const HostNumbers& numbers, const std::string& name,
               std::optional<double> usual) {
  if (!numbers.contains(name) && usual) return *usual;
  const std::vector<double>& values = setting_list(function, numbers, name);
  require(values.size() == 1, function, ": '", name, "' has ", values.size(), " numbers, expected 1");
  return values.front();
}

const std::vector<double>& setting_list(std::string_view function, const HostNumbers& numbers,
                                        const std::string& name) {
  const auto found = numbers.find(name);
  require(found != numbers.end(), function, ": the setting '", name, "' is missing");
  require(!found->second.empty(), function, ": '", name, "' has no numbers");
  return found->second;
}

}  // namespace tbd
