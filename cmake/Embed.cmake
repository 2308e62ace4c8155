# tbd_embed(NAME HEADER FUNCTION FILE ...): the static library tbd_NAME, in which `std::string_view tbd::FUNCTION()`, as
# HEADER declares it, returns the content of FILE. FILE none makes an empty text.
function(tbd_embed name header)
  set(bytes "")
  set(functions "")
  set(files "")
  set(rest ${ARGN})
  while(rest)
    list(POP_FRONT rest function file)
    set(content "")
    if(NOT file STREQUAL "none")
      set(content ".incbin \\\"${file}\\\"")
      list(APPEND files ${file})
    endif()
    set(begin tbd_${function}_begin)
    set(end tbd_${function}_end)
    string(APPEND bytes "asm(\".section .rodata\\n.globl ${begin}\\n.globl ${end}\\n\"\n"
                        "    \"${begin}:\\n${content}\\n${end}:\\n.previous\\n\");\n"
                        "extern \"C\" const char ${begin}[];\nextern \"C\" const char ${end}[];\n")
    string(APPEND functions "std::string_view ${function}() { return {${begin}, static_cast<size_t>(${end} - ${begin})}; }\n")
  endwhile()
  set(source ${PROJECT_BINARY_DIR}/embedded/${name}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT
"#include \"${header}\"

@bytes@
namespace tbd {

@functions@
}  // namespace tbd
" @ONLY)
  add_library(tbd_${name} STATIC ${source})
  target_include_directories(tbd_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${files}")
endfunction()

# Plotly.js; empty when TBD_PLOTLY_JS names no file.
set(plotly ${TBD_PLOTLY_JS})
if(NOT TBD_PLOTLY_JS)
  set(plotly none)
  message(STATUS "tbd: no TBD_PLOTLY_JS; reports will hold tables and no charts")
elseif(NOT EXISTS ${TBD_PLOTLY_JS})
  message(FATAL_ERROR "tbd: TBD_PLOTLY_JS names ${TBD_PLOTLY_JS}, which does not exist")
endif()
tbd_embed(plotly report/plotly.h plotly_js ${plotly})

set(assets ${PROJECT_SOURCE_DIR}/src/report/assets)
tbd_embed(report_assets report/assets.h
          report_style ${assets}/report.css
          trace_style ${assets}/trace.css
          report_script ${assets}/report.js)
