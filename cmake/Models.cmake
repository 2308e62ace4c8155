# Every src/models/NAME.cc but model.cc defines `Model NAME()`; the registry lists them in the order of their names.
file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/models/*.cc)
list(FILTER files EXCLUDE REGEX "(_test|/model)\\.cc$")
list(SORT files)
set(declarations "")
set(calls "")
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  string(APPEND declarations "Model ${name}();\n")
  string(APPEND calls "      ${name}(),\n")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/models/registry.cc CONTENT
"#include \"models/model.h\"

namespace tbd {

@declarations@
const std::vector<Model>& all_models() {
  static const std::vector<Model> models = {
@calls@  };
  return models;
}

}  // namespace tbd
" @ONLY)
target_sources(tbd_models PRIVATE ${PROJECT_BINARY_DIR}/models/registry.cc)

# Small programs that use every form, for tests of rooms and back-ends.
file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/toy_*.cc)
if(TBD_TESTS AND files)
  tbd_library(toys SOURCES ${files} LINK tbd_graph)
  target_include_directories(tbd_toys PUBLIC ${PROJECT_SOURCE_DIR}/tests)
  foreach(target test_graph test_models)
    if(TARGET ${target})
      target_link_libraries(${target} PRIVATE tbd_toys)
    endif()
  endforeach()
endif()
