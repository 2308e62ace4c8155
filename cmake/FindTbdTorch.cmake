# libtorch from an unpacked wheel or an installed torch: the folder TBD_TORCH_ROOT, which holds torch/ (and nvidia/).
# Makes the imported targets c10 and torch_cpu, and tbd::torch, the one to link. No other place is searched, and
# find_package(Torch) is never used: it demands a CUDA toolkit and can pick up a second copy. libtorch_cuda.so is not
# linked: a worker loads it when it trains on a GPU (src/backends/pytorch/cuda_library.h).
#   TbdTorch_FOUND, TbdTorch_VERSION, TbdTorch_LIBRARY (libtorch_cpu.so), TbdTorch_REASON (why it is absent)
function(_tbd_torch_library target file)
  add_library(${target} SHARED IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${file})
  get_filename_component(soname ${file} NAME)
  set_target_properties(${target} PROPERTIES IMPORTED_SONAME ${soname})
endfunction()

set(TbdTorch_REASON "")
set(TbdTorch_LIBRARY ${TBD_TORCH_ROOT}/torch/lib/libtorch_cpu.so)
if(NOT TBD_TORCH_ROOT)
  set(TbdTorch_REASON "TBD_TORCH_ROOT is not set")
elseif(NOT EXISTS ${TbdTorch_LIBRARY})
  set(TbdTorch_REASON "${TbdTorch_LIBRARY} does not exist")
else()
  # The first holds the three numbers in every supported version; the second is the older place.
  foreach(header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
    if(NOT TbdTorch_VERSION AND EXISTS ${TBD_TORCH_ROOT}/torch/include/${header})
      file(STRINGS ${TBD_TORCH_ROOT}/torch/include/${header} lines REGEX "#define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
      string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
      list(JOIN numbers "." TbdTorch_VERSION)
    endif()
  endforeach()
  if(NOT TbdTorch_VERSION)
    set(TbdTorch_REASON "${TBD_TORCH_ROOT}/torch/include holds no version header")
  elseif(TbdTorch_VERSION VERSION_LESS 2.11)
    set(TbdTorch_REASON "torch ${TbdTorch_VERSION} in ${TBD_TORCH_ROOT} is older than 2.11, the oldest supported")
  endif()
endif()

if(TbdTorch_REASON)
  set(TbdTorch_FOUND FALSE)
else()
  set(TbdTorch_FOUND TRUE)
  if(NOT TARGET tbd::torch)
    set(lib ${TBD_TORCH_ROOT}/torch/lib)
    _tbd_torch_library(c10 ${lib}/libc10.so)
    _tbd_torch_library(torch_cpu ${lib}/libtorch_cpu.so)
    add_library(tbd_torch INTERFACE)
    add_library(tbd::torch ALIAS tbd_torch)
    # The wheel's header of Gloo's process group includes Gloo's own, which it lacks: all are one with the names it needs.
    foreach(header algorithm common/error context rendezvous/store transport/device)
      file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/gloo-names/gloo/${header}.h
           CONTENT "#include \"backends/pytorch/gloo_names.h\"\n")
    endforeach()
    target_include_directories(tbd_torch SYSTEM INTERFACE ${TBD_TORCH_ROOT}/torch/include
                               ${TBD_TORCH_ROOT}/torch/include/torch/csrc/api/include ${CMAKE_BINARY_DIR}/gloo-names)
    target_compile_features(tbd_torch INTERFACE cxx_std_20)
    # Without NDEBUG at::RecordFunction has another layout than in the library.
    target_compile_definitions(tbd_torch INTERFACE NDEBUG USE_DISTRIBUTED USE_C10D_GLOO)
    target_link_libraries(tbd_torch INTERFACE torch_cpu c10)
    target_link_options(tbd_torch INTERFACE "LINKER:-rpath,${lib}" "LINKER:--disable-new-dtags"
                        "LINKER:--allow-shlib-undefined")
  endif()
endif()
