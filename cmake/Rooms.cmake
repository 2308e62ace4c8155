# tbd_room(NAME [COLD] [ROOMS ...] [LINK ...] [JOIN N] [HEADERS ...]): the static library tbd_NAME of src/NAME, and test_NAME
# of its *_test.cc. COLD: nothing in it is hot, so that joined builds optimize it less and compile it in three quarters of the time.
# A room without sources yet is an interface library, so that arrows can name it.
include(GoogleTest OPTIONAL)

# Every room's tests: what the sanitizer builds build.
add_custom_target(unit_tests)

# tbd_join(TARGET BATCH [HEADER ...]): with TBD_UNITY, BATCH files of the target compile as one, so that what their headers
# cost is paid once; the headers are compiled beforehand. BATCH 1 leaves each file alone. A compiler process stays below
# 1.5 GiB (bench/clean_build.sh prints it). tools/check_unity.py holds the names that files of a module must not share.
function(tbd_join target batch)
  if(NOT TBD_UNITY)
    return()
  endif()
  if(batch GREATER 1)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
    # GCC 12 inlines more in a large unit and then takes an empty optional for an uninitialized one.
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
  endif()
  if(ARGN)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

function(tbd_settings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wno-missing-field-initializers)
  if(TBD_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# Code that is not hot. With sanitizers the optimizer would take up to half of the time to compile it.
function(tbd_optimize_less target)
  if(TBD_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  else()
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# Tests: GoogleTest's headers are compiled once an executable in every preset, since each of its files begins with them.
function(tbd_test_settings target)
  target_precompile_headers(${target} PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
  target_compile_options(${target} PRIVATE -g0)
  tbd_optimize_less(${target})
  if(TBD_JOIN_TESTS)
    set(TBD_UNITY ON)
  endif()
  tbd_join(${target} 30)
endfunction()

# The cases of an executable, in SHARDS processes: to start one costs a framework's load of seconds, or a sanitizer's.
# LANE is the label. One case alone: BUILD/TARGET --gtest_filter=NAME.
function(tbd_add_tests target lane shards)
  foreach(shard RANGE 1 ${shards})
    math(EXPR index "${shard} - 1")
    set(environment GTEST_TOTAL_SHARDS=${shards} GTEST_SHARD_INDEX=${index} ${TBD_TEST_ENVIRONMENT})
    add_test(NAME ${target}.${shard} COMMAND ${target} --gtest_brief=1)
    set_tests_properties(${target}.${shard} PROPERTIES LABELS ${lane} TIMEOUT 600
                         ENVIRONMENT "${environment}")
  endforeach()
endfunction()

# Each test case a ctest test, for tests that start programs and workers; LANE is the label.
function(tbd_discover_tests target lane)
  cmake_parse_arguments(TESTS "" "TEST_FILTER" "PROPERTIES" ${ARGN})
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60 DISCOVERY_MODE PRE_TEST TEST_FILTER "${TESTS_TEST_FILTER}"
                       PROPERTIES LABELS ${lane} TIMEOUT 300 ${TESTS_PROPERTIES})
endfunction()

# JOIN: how many files are compiled together with TBD_UNITY; HEADERS: what is compiled before them.
function(tbd_library name)
  cmake_parse_arguments(LIB "" "JOIN" "SOURCES;LINK;HEADERS" ${ARGN})
  if(NOT LIB_JOIN)
    set(LIB_JOIN 40)
  endif()
  if(LIB_SOURCES)
    add_library(tbd_${name} STATIC ${LIB_SOURCES})
    set(access PUBLIC)
    tbd_settings(tbd_${name})
    tbd_join(tbd_${name} ${LIB_JOIN} ${LIB_HEADERS})
  else()
    add_library(tbd_${name} INTERFACE)
    set(access INTERFACE)
  endif()
  target_include_directories(tbd_${name} ${access} ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(tbd_${name} ${access} ${LIB_LINK})
endfunction()

function(tbd_room name)
  cmake_parse_arguments(ROOM "COLD" "JOIN" "ROOMS;LINK;EXCLUDE;HEADERS" ${ARGN})
  list(TRANSFORM ROOM_ROOMS PREPEND tbd_)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(ROOM_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${ROOM_EXCLUDE}")
  endif()
  tbd_library(${name} SOURCES ${sources} LINK ${ROOM_ROOMS} ${ROOM_LINK} JOIN ${ROOM_JOIN}
              HEADERS ${ROOM_HEADERS})
  if(ROOM_COLD AND TBD_UNITY AND sources)
    tbd_optimize_less(tbd_${name})
  endif()
  if(tests AND TBD_TESTS)
    add_executable(test_${name} ${tests})
    target_link_libraries(test_${name} PRIVATE tbd_${name} GTest::gtest_main GTest::gmock)
    target_compile_definitions(test_${name} PRIVATE TBD_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                               TBD_BINARY_DIR="${PROJECT_BINARY_DIR}")
    tbd_settings(test_${name})
    tbd_test_settings(test_${name})
    tbd_add_tests(test_${name} unit 1)
    add_dependencies(unit_tests test_${name})
  endif()
endfunction()
