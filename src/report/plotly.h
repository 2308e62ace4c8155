// Plotly.js (MIT licence), taken from its package at build time (cmake/Embed.cmake).
#pragma once
#include <string_view>

namespace tbd {

std::string_view plotly_js();  // empty when the build had no package

}  // namespace tbd
