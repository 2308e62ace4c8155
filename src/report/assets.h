// The report's style sheet and the script that draws its charts.
#pragma once
#include <string_view>

namespace tbd {

std::string_view report_style();
std::string_view report_script();

}  // namespace tbd
