# Build type, compiler cache, linker and sanitizers.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release: -O2 -g1; Debug: -O0 -g" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
if(TBD_UNITY)
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")  # debug information of joined files is most of the build's disk
endif()
if(TBD_SANITIZE)
  set(CMAKE_CXX_FLAGS_RELEASE "-O1 -g1 -DNDEBUG")
endif()

find_program(TBD_CCACHE ccache)
if(TBD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Build folders of one clone, and clones beside each other, share objects.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${TBD_CCACHE})
endif()

# mold links a test executable in a tenth of the time. It stays one process, so that its CPU time counts as the build's.
find_program(TBD_MOLD mold)
if(TBD_MOLD)
  add_link_options(-fuse-ld=mold -Wl,--no-fork)
endif()

if(TBD_SANITIZE)
  add_compile_options(-fsanitize=${TBD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(TBD_SANITIZE MATCHES undefined)
    # These four more than double the time to compile, and AddressSanitizer catches what they would.
    add_compile_options(-fno-sanitize=null,alignment,vptr,object-size)
  endif()
  add_link_options(-fsanitize=${TBD_SANITIZE})
  if(TBD_SANITIZE MATCHES address)
    # The runtime of GCC before 14 takes a thread-local block that happens to begin 16 bytes into a page for one of glibc
    # before 2.25, reads a header that is not there, and LeakSanitizer dies of it ("Tracer caught signal 11").
    set(TBD_TEST_ENVIRONMENT "ASAN_OPTIONS=intercept_tls_get_addr=0")
  endif()
endif()
