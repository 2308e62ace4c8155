# TensorFlow from an unpacked wheel or an installed tensorflow: the folder TBD_TENSORFLOW_ROOT, which holds tensorflow/.
# Makes the imported target tbd::tensorflow: the C API, and the headers of the C++ gradient registry. No other place is
# searched, but for the folder TBD_TENSORFLOW_ROOT-cuda: where the set-up has put the build for GPUs there, its libraries
# are taken, which train on the CPU as well. The headers are the same.
#   TbdTensorFlow_FOUND, TbdTensorFlow_VERSION, TbdTensorFlow_LIBRARY (libtensorflow_cc.so.2), TbdTensorFlow_REASON
set(TbdTensorFlow_REASON "")
set(lib ${TBD_TENSORFLOW_ROOT}/tensorflow)
if(TBD_TENSORFLOW_ROOT AND EXISTS ${TBD_TENSORFLOW_ROOT}-cuda/.tbd-manifest)
  set(lib ${TBD_TENSORFLOW_ROOT}-cuda/tensorflow)
endif()
set(TbdTensorFlow_LIBRARY ${lib}/libtensorflow_cc.so.2)
if(NOT TBD_TENSORFLOW_ROOT)
  set(TbdTensorFlow_REASON "TBD_TENSORFLOW_ROOT is not set")
elseif(NOT EXISTS ${TbdTensorFlow_LIBRARY})
  set(TbdTensorFlow_REASON "${TbdTensorFlow_LIBRARY} does not exist")
else()
  # No header of the wheel holds its version; what pip installed beside it does.
  file(GLOB metadata ${TBD_TENSORFLOW_ROOT}/tensorflow*-*.dist-info/METADATA)
  foreach(file ${metadata})
    file(STRINGS ${file} line REGEX "^Version: " LIMIT_COUNT 1)
    string(REPLACE "Version: " "" TbdTensorFlow_VERSION "${line}")
  endforeach()
  if(NOT TbdTensorFlow_VERSION)
    set(TbdTensorFlow_REASON "${TBD_TENSORFLOW_ROOT}holds no tensorflow*.dist-info with a version")
  endif()
endif()

if(TbdTensorFlow_REASON)
  set(TbdTensorFlow_FOUND FALSE)
else()
  set(TbdTensorFlow_FOUND TRUE)
  if(NOT TARGET tbd::tensorflow)
    foreach(part cc framework)
      add_library(tensorflow_${part} SHARED IMPORTED GLOBAL)
      set_target_properties(tensorflow_${part} PROPERTIES IMPORTED_LOCATION ${lib}/libtensorflow_${part}.so.2
                            IMPORTED_SONAME libtensorflow_${part}.so.2)
    endforeach()
    add_library(tbd_tensorflow INTERFACE)
    add_library(tbd::tensorflow ALIAS tbd_tensorflow)
    target_include_directories(tbd_tensorflow SYSTEM INTERFACE ${TBD_TENSORFLOW_ROOT}/tensorflow/include)
    target_link_libraries(tbd_tensorflow INTERFACE tensorflow_cc tensorflow_framework)
    target_link_options(tbd_tensorflow INTERFACE "LINKER:-rpath,${lib}" "LINKER:--disable-new-dtags"
                        "LINKER:--allow-shlib-undefined")
  endif()
endif()
