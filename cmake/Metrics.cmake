# Every src/analysis/metrics/NAME.cc defines `std::span<const Metric> NAME_metrics()`; metric_files() lists them in the
# order of their names.
file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/analysis/metrics/*.cc)
list(FILTER files EXCLUDE REGEX "_test\\.cc$")
list(SORT files)
set(declarations "")
set(calls "")
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  string(APPEND declarations "std::span<const Metric> ${name}_metrics();\n")
  string(APPEND calls "${name}_metrics(), ")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/analysis/metric_files.cc CONTENT
"#include \"analysis/metric_files.h\"

namespace tbd {

@declarations@
std::vector<std::span<const Metric>> metric_files() {
  return {@calls@};
}

}  // namespace tbd
" @ONLY)
target_sources(tbd_analysis PRIVATE ${PROJECT_BINARY_DIR}/analysis/metric_files.cc)
