# tbd_registry(ROOM DIRECTORY TYPE SUFFIX FUNCTION HEADER): every DIRECTORY/NAME.cc under src, but for tests and a file
# named as HEADER, defines `TYPE NAME SUFFIX()` of namespace tbd. `std::vector<TYPE> FUNCTION()`, which HEADER declares,
# calls them in the order of their names; a new file is found without being named anywhere.
function(tbd_registry room directory type suffix function header)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${directory}/*.cc)
  list(SORT files)
  get_filename_component(owner ${header} NAME_WE)
  set(declarations "")
  set(calls "")
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    if(name STREQUAL owner OR name MATCHES "_test$")
      continue()
    endif()
    string(APPEND declarations "${type} ${name}${suffix}();\n")
    string(APPEND calls "      ${name}${suffix}(),\n")
  endforeach()
  set(source ${PROJECT_BINARY_DIR}/registries/${function}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT
"#include \"${header}\"

namespace tbd {

@declarations@
std::vector<${type}> ${function}() {
  return {
@calls@  };
}

}  // namespace tbd
" @ONLY)
  target_sources(tbd_${room} PRIVATE ${source})
endfunction()
