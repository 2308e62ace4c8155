# Plotly.js inside the program: `std::string_view tbd::plotly_js()`, empty when TBD_PLOTLY_JS names no file.
if(TBD_PLOTLY_JS AND NOT EXISTS ${TBD_PLOTLY_JS})
  message(FATAL_ERROR "tbd: TBD_PLOTLY_JS names ${TBD_PLOTLY_JS}, which does not exist")
endif()
if(TBD_PLOTLY_JS)
  set(content ".incbin \\\"${TBD_PLOTLY_JS}\\\"")
else()
  message(STATUS "tbd: no TBD_PLOTLY_JS; reports will hold tables and no charts")
endif()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/plotly/plotly_js.cc CONTENT
"#include \"report/plotly.h\"

asm(\".section .rodata\\n.globl tbd_plotly_begin\\n.globl tbd_plotly_end\\n\"
    \"tbd_plotly_begin:\\n@content@\\ntbd_plotly_end:\\n.previous\\n\");
extern \"C\" const char tbd_plotly_begin[];
extern \"C\" const char tbd_plotly_end[];

namespace tbd {


std::string_view plotly_js() { return {tbd_plotly_begin, static_cast<size_t>(tbd_plotly_end - tbd_plotly_begin)}; }

}  // namespace tbd
" @ONLY)
add_library(tbd_plotly STATIC ${PROJECT_BINARY_DIR}/plotly/plotly_js.cc)
target_include_directories(tbd_plotly PRIVATE ${PROJECT_SOURCE_DIR}/src)
set_source_files_properties(${PROJECT_BINARY_DIR}/plotly/plotly_js.cc PROPERTIES OBJECT_DEPENDS "${TBD_PLOTLY_JS}")
