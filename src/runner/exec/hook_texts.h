// The files of exec/: what a program needs to tell of its steps.
#pragma once
#include <string_view>

namespace tbd {

std::string_view sitecustomize_text();
std::string_view step_module_text();

}  // namespace tbd
