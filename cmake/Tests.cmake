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

# The program's tests, in one executable: their names say the lane. Parts of other programs lie beside them.
file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*.cc)
list(FILTER files EXCLUDE REGEX "/(toy_|op_|conformance|backends_matrix|go_rules_test|late_loader|extra_copy|scripted_)[a-z_]*\\.cc$")
add_executable(program_tests ${files})
target_link_libraries(program_tests PRIVATE ${all_room_targets} tbd_toys GTest::gtest_main GTest::gmock)
target_compile_definitions(program_tests PRIVATE TBD_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                           TBD_BINARY_DIR="${PROJECT_BINARY_DIR}" TBD_PROGRAM="${CMAKE_BINARY_DIR}/bin/tbd")
tbd_settings(program_tests)
tbd_test_settings(program_tests)
if(TARGET tbd)
  add_dependencies(program_tests tbd)
endif()
# Networks that learn: minutes each. Some start several workers at once, others take times that other work would disturb.
set(lessons "Networks/Learning.*:AdversarialLearning.*")
set(lessons_alone "BoardLearning.*:SpeechLearning.*")
set(alone "Faults.*:OffCpu.*")
tbd_discover_tests(program_tests lesson TEST_FILTER "${lessons}")
tbd_discover_tests(program_tests lesson TEST_FILTER "${lessons_alone}" PROPERTIES PROCESSORS 2 TIMEOUT 900)
tbd_discover_tests(program_tests program TEST_FILTER "${alone}" PROPERTIES PROCESSORS 2 TIMEOUT 900)
tbd_discover_tests(program_tests program TEST_FILTER "-${lessons}:${lessons_alone}:${alone}")

# Workers with planted faults, in build/faults. Another open_source is put in the place of the loader's.
function(tbd_faulty_worker name backend)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE tbd_backend_${backend})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  tbd_settings(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/faults JOB_POOL_COMPILE tbd_heavy)
  add_dependencies(program_tests ${name})
endfunction()
foreach(backend ${backends})
  if(TARGET tbd-worker-${backend})
    tbd_faulty_worker(tbd-late-loader-${backend} ${backend} ${PROJECT_SOURCE_DIR}/tests/late_loader_worker.cc)
    target_link_options(tbd-late-loader-${backend} PRIVATE -Wl,--wrap=_ZN3tbd11open_sourceERKNS_10SourceSpecE)
  endif()
endforeach()
if(TARGET tbd-worker-pytorch)
  tbd_faulty_worker(tbd-extra-copy-pytorch pytorch ${PROJECT_SOURCE_DIR}/tests/extra_copy_worker.cc)
endif()

# A driver's library that answers by a script, in build/scripted under the name of the real one.
add_library(scripted_nvml MODULE ${PROJECT_SOURCE_DIR}/tests/scripted_nvml.cc)
target_include_directories(scripted_nvml PRIVATE ${PROJECT_SOURCE_DIR}/src)
tbd_settings(scripted_nvml)
set_target_properties(scripted_nvml PROPERTIES PREFIX "" OUTPUT_NAME libnvidia-ml SUFFIX ".so.1"
                                               LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/scripted)
foreach(user test_measure test_runner test_cli program_tests)
  if(TARGET ${user})
    add_dependencies(${user} scripted_nvml)
  endif()
endforeach()

# Op conformance: workers alone, neither the program nor the rooms beyond the runner.
add_executable(conformance_test ${PROJECT_SOURCE_DIR}/tests/conformance_test.cc ${PROJECT_SOURCE_DIR}/tests/conformance.cc
                                ${PROJECT_SOURCE_DIR}/tests/backends_matrix.cc)
target_link_libraries(conformance_test PRIVATE tbd_runner tbd_op_cases GTest::gtest_main GTest::gmock)
target_compile_definitions(conformance_test PRIVATE TBD_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                           TBD_BINARY_DIR="${PROJECT_BINARY_DIR}")
tbd_settings(conformance_test)
tbd_test_settings(conformance_test)
tbd_discover_tests(conformance_test framework)

# Our rules of Go against another program's: the room alone.
add_executable(go_rules_test ${PROJECT_SOURCE_DIR}/tests/go_rules_test.cc)
target_link_libraries(go_rules_test PRIVATE tbd_go GTest::gtest_main)
tbd_settings(go_rules_test)
tbd_test_settings(go_rules_test)
tbd_discover_tests(go_rules_test program)

file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/*_test.py ${PROJECT_SOURCE_DIR}/tests/*_test.py)
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  add_test(NAME tools.${name} COMMAND ${Python3_EXECUTABLE} ${file})
  set_tests_properties(tools.${name} PROPERTIES LABELS tools TIMEOUT 400
                       ENVIRONMENT "TBD_BUILD=${CMAKE_BINARY_DIR};TBD_PROGRAM=${CMAKE_BINARY_DIR}/bin/tbd")
endforeach()

# Rules of style and structure. Exit 77 means that the tool is not on this machine.
foreach(rule layers format unity headers assets statements model_names names)
  set(options "")
  if(rule STREQUAL "headers")
    set(options --compiler ${CMAKE_CXX_COMPILER})
  elseif(rule STREQUAL "names")
    set(options ${CMAKE_BINARY_DIR})
  endif()
  add_test(NAME style.${rule} COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/check_${rule}.py ${options})
  set_tests_properties(style.${rule} PROPERTIES LABELS style SKIP_RETURN_CODE 77 TIMEOUT 1200)
endforeach()

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
