# bench/<name>.cc is a benchmark bench_<name> on Google Benchmark; none is a test.
find_package(benchmark REQUIRED)
function(tbd_bench name file)
  add_executable(bench_${name} ${file})
  target_link_libraries(bench_${name} PRIVATE ${all_room_targets} benchmark::benchmark ${ARGN})
  target_compile_definitions(bench_${name} PRIVATE TBD_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                             TBD_PROGRAM="${CMAKE_BINARY_DIR}/bin/tbd")
  tbd_settings(bench_${name})
  set_target_properties(bench_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
endfunction()

file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.cc)
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  string(REGEX REPLACE "_.*" "" framework ${name})
  if(name STREQUAL "session_steps")
    foreach(framework ${TBD_FRAMEWORKS})
      if(TARGET tbd_backend_${framework})
        tbd_bench(session_${framework} ${file} tbd_backend_${framework})
      endif()
    endforeach()
  elseif(framework IN_LIST TBD_FRAMEWORKS)
    if(name STREQUAL "pytorch_overhead" AND TBD_UNITY)
      # It defines lowerings of its own in place of the library's, which joined files bring along.
      message(STATUS "bench_pytorch_overhead needs a build with TBD_UNITY=OFF")
    elseif(TARGET tbd_backend_${framework})
      tbd_bench(${name} ${file} tbd_backend_${framework})
      set_target_properties(bench_${name} PROPERTIES JOB_POOL_COMPILE tbd_heavy)
    endif()
  else()
    tbd_bench(${name} ${file})
  endif()
endforeach()

target_sources(bench_resume_kills PRIVATE ${PROJECT_SOURCE_DIR}/tests/resume_kills.cc)
target_include_directories(bench_resume_kills PRIVATE ${PROJECT_SOURCE_DIR}/tests)

# Calls of these functions go through the benchmark that times them (bench/own_time.h).
function(tbd_wrap target)
  if(TARGET ${target})
    list(TRANSFORM ARGN PREPEND "LINKER:--wrap=")
    target_link_options(${target} PRIVATE ${ARGN})
  endif()
endfunction()
if(TARGET bench_pytorch_overhead)
  target_link_options(bench_pytorch_overhead PRIVATE LINKER:-z,muldefs)  # the first definition is the benchmark's
endif()
tbd_wrap(bench_tensorflow_overhead TF_SessionRun)
tbd_wrap(bench_mxnet_overhead MXExecutorForward MXExecutorBackward MXImperativeInvoke MXNDArraySyncCopyFromCPU
         MXNDArraySyncCopyToCPU MXNDArrayWaitAll)
tbd_wrap(bench_mlx_overhead _ZN3mlx4core4evalESt6vectorINS0_5arrayESaIS2_EE)
tbd_wrap(bench_cntk_overhead
         _ZN4CNTK17CompositeFunction7ForwardERKSt13unordered_mapINS_8VariableESt10shared_ptrINS_5ValueEESt4hashIS2_ESt8equal_toIS2_ESaISt4pairIKS2_S5_EEERSE_RKNS_16DeviceDescriptorERKSt13unordered_setIS2_S7_S9_SaIS2_EESP_
         _ZN4CNTK17CompositeFunction8BackwardERKSt10shared_ptrINS_13BackPropStateEERKSt13unordered_mapINS_8VariableES1_INS_5ValueEESt4hashIS7_ESt8equal_toIS7_ESaISt4pairIKS7_S9_EEERSI_)
