// The files of assets/, inside the program (cmake/Embed.cmake): the report's style sheet, what the report of a trace
// adds to it, and the script that draws charts.
#pragma once
#include <string_view>

namespace tbd {

std::string_view report_style();
std::string_view trace_style();
std::string_view report_script();

}  // namespace tbd
