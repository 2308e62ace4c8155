# tbd_room(NAME [ROOMS ...] [LINK ...]): the static library tbd_NAME of src/NAME, and test_NAME of its *_test.cc.
# A room without sources yet is an interface library, so that arrows can name it.
include(GoogleTest OPTIONAL)

# Every room's tests: what the sanitizer builds build.
add_custom_target(unit_tests)

function(tbd_settings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wno-missing-field-initializers)
  if(TBD_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# Test cases become ctest tests with a label, the lane they run in.
# Further arguments are properties of the tests.
function(tbd_discover_tests target lane)
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60 DISCOVERY_MODE PRE_TEST PROPERTIES LABELS ${lane} TIMEOUT 300
                       ${ARGN})
endfunction()

function(tbd_library name)
  cmake_parse_arguments(LIB "" "" "SOURCES;LINK" ${ARGN})
  if(LIB_SOURCES)
    add_library(tbd_${name} STATIC ${LIB_SOURCES})
    set(access PUBLIC)
    tbd_settings(tbd_${name})
  else()
    add_library(tbd_${name} INTERFACE)
    set(access INTERFACE)
  endif()
  target_include_directories(tbd_${name} ${access} ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(tbd_${name} ${access} ${LIB_LINK})
endfunction()

function(tbd_room name)
  cmake_parse_arguments(ROOM "" "" "ROOMS;LINK;EXCLUDE" ${ARGN})
  list(TRANSFORM ROOM_ROOMS PREPEND tbd_)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(ROOM_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${ROOM_EXCLUDE}")
  endif()
  tbd_library(${name} SOURCES ${sources} LINK ${ROOM_ROOMS} ${ROOM_LINK})
  if(tests AND TBD_TESTS)
    add_executable(test_${name} ${tests})
    target_link_libraries(test_${name} PRIVATE tbd_${name} GTest::gtest_main GTest::gmock)
    target_compile_definitions(test_${name} PRIVATE TBD_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                               TBD_BINARY_DIR="${PROJECT_BINARY_DIR}")
    tbd_settings(test_${name})
    tbd_discover_tests(test_${name} unit)
    add_dependencies(unit_tests test_${name})
  endif()
endfunction()
