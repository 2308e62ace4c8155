// What a host function reads of the settings of its call, by name. All throw Error(invalid) that names the function and
// the setting.
#pragma once
#include <initializer_list>
#include <optional>
#include <string_view>

#include "graph/ops/structure.h"

namespace tbd {

void refuse_unknown_settings(std::string_view function, const HostNumbers& numbers,
                             std::initializer_list<std::string_view> known);
// One number; where the call does not have it, `usual`, if there is such a value.
double setting(std::string_view function, const HostNumbers& numbers, const std::string& name,
               std::optional<double> usual = std::nullopt);
// One or more numbers.
const std::vector<double>& setting_list(std::string_view function, const HostNumbers& numbers, const std::string& name);

}  // namespace tbd
