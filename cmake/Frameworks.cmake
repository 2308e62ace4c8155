# The rows of deps/frameworks.txt. Each root is a cache variable; TBD_FRAMEWORKS is the list of names.
# tbd_frameworks_table(ROOM): known_frameworks() of record/frameworks.h, from the rows, is compiled into the room.
# tbd_frameworks(): the back-end of each row.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/deps/frameworks.txt)
file(STRINGS ${PROJECT_SOURCE_DIR}/deps/frameworks.txt rows REGEX "^[a-z]")
set(TBD_FRAMEWORKS "")
foreach(row ${rows})
  separate_arguments(row UNIX_COMMAND "${row}")
  list(POP_FRONT row name label layout start upstream package target root library ready)
  list(APPEND TBD_FRAMEWORKS ${name})
  foreach(fact label layout start upstream package target root ready)
    set(TBD_FRAMEWORK_${name}_${fact} ${${fact}})
  endforeach()
  set(${root} "" CACHE PATH "The folder that holds ${library} of an unpacked wheel or an installed ${label}")
endforeach()

function(tbd_frameworks_table room)
  set(table "")
  foreach(name ${TBD_FRAMEWORKS})
    set(of TBD_FRAMEWORK_${name})
    set(is_retired false)
    if(${of}_upstream STREQUAL retired)
      set(is_retired true)
    endif()
    set(is_first false)
    if(${of}_ready STREQUAL first)
      set(is_first true)
    endif()
    string(APPEND table "    {.name = \"${name}\", .label = \"${${of}_label}\", .layout = \"${${of}_layout}\", "
                        ".start_seconds = ${${of}_start}, .retired = ${is_retired}, .first = ${is_first}},\n")
  endforeach()
  set(source ${PROJECT_BINARY_DIR}/registries/known_frameworks.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT
"#include \"record/frameworks.h\"

namespace tbd {

std::span<const KnownFramework> known_frameworks() {
  static constexpr KnownFramework kRows[] = {
@table@  };
  return kRows;
}

}  // namespace tbd
" @ONLY)
  target_sources(tbd_${room} PRIVATE ${source})
endfunction()

function(tbd_frameworks)
  foreach(name ${TBD_FRAMEWORKS})
    set(of TBD_FRAMEWORK_${name})
    tbd_framework(${name} ${${of}_package} ${${of}_target} ${${of}_root})
  endforeach()
endfunction()
