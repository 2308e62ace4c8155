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
