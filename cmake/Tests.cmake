# Tests that stand above the rooms: tests/*_test.cc (end to end, golden), Python tests of the tools, header self-test.

# The cases of every op: one table for the back-ends' gradient tests, op conformance and the matrix in docs/.
file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/op_*.cc)
tbd_library(op_cases SOURCES ${files} LINK tbd_graph)
target_include_directories(tbd_op_cases PUBLIC ${PROJECT_SOURCE_DIR}/tests)
file(GLOB backends RELATIVE ${PROJECT_SOURCE_DIR}/src/backends ${PROJECT_SOURCE_DIR}/src/backends/*)
foreach(backend ${backends})
  if(TARGET test_${backend})
    target_link_libraries(test_${backend} PRIVATE tbd_op_cases)
  endif()
endforeach()

file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*_test.cc)
list(FILTER files EXCLUDE REGEX "/(conformance|go_rules)_test\\.cc$")
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  add_executable(${name} ${file})
  target_link_libraries(${name} PRIVATE ${all_room_targets} tbd_toys GTest::gtest_main GTest::gmock)
  target_compile_definitions(${name} PRIVATE TBD_SOURCE_DIR="${PROJECT_SOURCE_DIR}" TBD_BINARY_DIR="${PROJECT_BINARY_DIR}"
                             TBD_PROGRAM="${CMAKE_BINARY_DIR}/bin/tbd")
  tbd_settings(${name})
  if(TARGET tbd)
    add_dependencies(${name} tbd)
  endif()
  set(properties)
  if(name MATCHES "^(board|speech)_learning_test$")
    set(properties PROCESSORS 2 TIMEOUT 900)  # several workers at once
  endif()
  tbd_discover_tests(${name} program ${properties})
endforeach()

# What the tests of the gates plant.
if(TARGET mutations_test)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/mutation_*.cc ${PROJECT_SOURCE_DIR}/tests/mutations_*.cc)
  list(FILTER files EXCLUDE REGEX "_test\\.cc$")
  target_sources(mutations_test PRIVATE ${files})
endif()

foreach(lesson learning_test board_learning_test adversarial_learning_test speech_learning_test)
  if(TARGET ${lesson})
    target_sources(${lesson} PRIVATE ${PROJECT_SOURCE_DIR}/tests/lesson_worker.cc)
  endif()
endforeach()
foreach(lesson learning_test speech_learning_test)
  if(TARGET ${lesson})
    target_sources(${lesson} PRIVATE ${PROJECT_SOURCE_DIR}/tests/shuffled_sets.cc)
  endif()
endforeach()
if(TARGET board_learning_test)
  target_sources(board_learning_test PRIVATE ${PROJECT_SOURCE_DIR}/tests/random_games.cc)
endif()

if(TARGET resume_test)
  target_sources(resume_test PRIVATE ${PROJECT_SOURCE_DIR}/tests/resume_kills.cc)
endif()

# Op conformance: workers alone, neither the program nor the rooms beyond the runner.
add_executable(conformance_test ${PROJECT_SOURCE_DIR}/tests/conformance_test.cc ${PROJECT_SOURCE_DIR}/tests/conformance.cc
                                ${PROJECT_SOURCE_DIR}/tests/backends_matrix.cc)
target_link_libraries(conformance_test PRIVATE tbd_runner tbd_op_cases GTest::gtest_main GTest::gmock)
target_compile_definitions(conformance_test PRIVATE TBD_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                           TBD_BINARY_DIR="${PROJECT_BINARY_DIR}")
tbd_settings(conformance_test)
tbd_discover_tests(conformance_test framework)

# Our rules of Go against another program's: the room alone.
add_executable(go_rules_test ${PROJECT_SOURCE_DIR}/tests/go_rules_test.cc)
target_link_libraries(go_rules_test PRIVATE tbd_go GTest::gtest_main)
tbd_settings(go_rules_test)
tbd_discover_tests(go_rules_test program)

file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/*_test.py ${PROJECT_SOURCE_DIR}/tests/*_test.py)
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  add_test(NAME tools.${name} COMMAND ${Python3_EXECUTABLE} ${file})
  set_tests_properties(tools.${name} PROPERTIES LABELS tools TIMEOUT 120
                       ENVIRONMENT "TBD_BUILD=${CMAKE_BINARY_DIR};TBD_PROGRAM=${CMAKE_BINARY_DIR}/bin/tbd")
endforeach()

# The house rules. Exit 77 means that the tool is not on this machine.
add_test(NAME house.layers COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/check_layers.py)
add_test(NAME house.format COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/check_format.py)
add_test(NAME house.names COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/check_names.py ${CMAKE_BINARY_DIR})
set_tests_properties(house.layers house.format house.names PROPERTIES LABELS house SKIP_RETURN_CODE 77 TIMEOUT 1200)

# Each header alone. Where its .cc includes it first, that has shown it; for the others a translation unit includes it,
# and it again. Back-ends' headers need their framework.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/src/*.h)
list(FILTER headers EXCLUDE REGEX "^backends/")
set(units)
foreach(header ${headers})
  string(REGEX REPLACE "\\.h$" ".cc" twin ${PROJECT_SOURCE_DIR}/src/${header})
  set(first "")
  if(EXISTS ${twin})
    file(STRINGS ${twin} first REGEX "^#include" LIMIT_COUNT 1)
  endif()
  if(NOT first STREQUAL "#include \"${header}\"")
    set(unit ${CMAKE_BINARY_DIR}/headers/${header}.cc)
    file(CONFIGURE OUTPUT ${unit} CONTENT "#include \"${header}\"\n#include \"${header}\"  // the guard holds\n")
    list(APPEND units ${unit})
  endif()
endforeach()
if(units)
  add_library(header_self_test OBJECT ${units})
  target_link_libraries(header_self_test PRIVATE ${all_room_targets} tbd_worker)
  if(TARGET tbd_cli)
    target_link_libraries(header_self_test PRIVATE tbd_cli)
  endif()
  target_compile_options(header_self_test PRIVATE -O0 -g0)
  tbd_settings(header_self_test)
endif()
