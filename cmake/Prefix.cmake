# TBD_PREFIX: Debian packages unpacked in a folder of their own, where the set-up had no root (docs/setup.md). The
# environment names it to each configuration; what is found there gets its run path.
set(TBD_PREFIX "" CACHE PATH "Where Debian packages are unpacked that the system lacks; empty: it has all of them")
if(DEFINED ENV{TBD_PREFIX})
  set_property(CACHE TBD_PREFIX PROPERTY VALUE "$ENV{TBD_PREFIX}")
endif()

set(TBD_TOOLS /usr/bin)
if(TBD_PREFIX)
  set(TBD_TOOLS ${TBD_PREFIX}/tools)
  list(PREPEND CMAKE_PREFIX_PATH ${TBD_PREFIX}/usr)
  # The last to be searched, as the system's folders are: a framework's own headers and libraries come first.
  foreach(folder usr/include usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
    list(APPEND CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES ${TBD_PREFIX}/${folder})
  endforeach()
  foreach(folder usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} lib/${CMAKE_LIBRARY_ARCHITECTURE})
    string(APPEND CMAKE_CXX_STANDARD_LIBRARIES " \"-Wl,-rpath,${TBD_PREFIX}/${folder},-rpath-link,${TBD_PREFIX}/${folder}\"")
  endforeach()
  # DT_RPATH, not DT_RUNPATH: it also serves the libraries that a library needs.
  add_link_options(LINKER:--disable-new-dtags)
  if(EXISTS ${TBD_TOOLS}/python3)
    set(Python3_EXECUTABLE ${TBD_TOOLS}/python3)
  endif()
endif()
# Sources that start a tool which may be there alone.
set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/go/gtp.cc ${PROJECT_SOURCE_DIR}/tests/numpy_worker_test.cc
             ${PROJECT_SOURCE_DIR}/tests/report_browser_test.cc
             APPEND PROPERTY COMPILE_DEFINITIONS TBD_TOOLS="${TBD_TOOLS}")
