# zstd: Debian's package brings no CMake file. Makes the imported target tbd::zstd.
find_path(ZSTD_INCLUDE_DIR zstd.h)
find_library(ZSTD_LIBRARY zstd)
mark_as_advanced(ZSTD_INCLUDE_DIR ZSTD_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Zstd REQUIRED_VARS ZSTD_LIBRARY ZSTD_INCLUDE_DIR)
if(Zstd_FOUND AND NOT TARGET tbd::zstd)
  add_library(tbd::zstd UNKNOWN IMPORTED)
  set_target_properties(tbd::zstd PROPERTIES IMPORTED_LOCATION ${ZSTD_LIBRARY}
                                             INTERFACE_INCLUDE_DIRECTORIES ${ZSTD_INCLUDE_DIR})
endif()
