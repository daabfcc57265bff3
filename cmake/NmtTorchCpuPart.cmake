# The CPU half of a LibTorch that is built for CUDA, on a machine without a CUDA toolkit, and for another processor than the
# machine's: there find_package(Torch) fails, for it looks for nvcc. pip's usual torch is such a build. Defines what
# find_package would (the target torch, TORCH_LIBRARY, TORCH_INCLUDE_DIRS, Torch_VERSION) where Torch_DIR is of this kind,
# otherwise nothing.
get_filename_component(NMT_TORCH_ROOT "${Torch_DIR}/../../.." ABSOLUTE)
find_program(NMT_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_HOME ENV CUDA_PATH ${CUDAToolkit_ROOT} /usr/local/cuda PATH_SUFFIXES bin)
if(Torch_DIR AND EXISTS ${NMT_TORCH_ROOT}/lib/libtorch_cuda.so
   AND (CMAKE_CROSSCOMPILING OR NOT (NMT_NVCC OR DEFINED ENV{CUDACXX})))
  message(STATUS "LibTorch in ${NMT_TORCH_ROOT} is for CUDA, but there is no CUDA toolkit for it: its CPU part is used")
  include(${Torch_DIR}/TorchConfigVersion.cmake)
  set(Torch_VERSION ${PACKAGE_VERSION})
  set(TORCH_LIBRARY ${NMT_TORCH_ROOT}/lib/libtorch_cpu.so)
  set(TORCH_INCLUDE_DIRS ${NMT_TORCH_ROOT}/include ${NMT_TORCH_ROOT}/include/torch/csrc/api/include)
  add_library(torch INTERFACE IMPORTED)
  target_include_directories(torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
  # How its CPU part was built (USE_DISTRIBUTED, ...): the names that its own file gives the target torch_cpu.
  file(READ ${NMT_TORCH_ROOT}/share/cmake/Caffe2/Caffe2Targets.cmake targets)
  if(NOT targets MATCHES "set_target_properties\\(torch_cpu PROPERTIES[^)\"]*INTERFACE_COMPILE_DEFINITIONS \"([^\"]*)\"")
    message(FATAL_ERROR "${NMT_TORCH_ROOT}/share/cmake/Caffe2/Caffe2Targets.cmake does not say how torch_cpu was built")
  endif()
  target_compile_definitions(torch INTERFACE ${CMAKE_MATCH_1})
  # What libtorch_cpu.so needs of CUDA's runtime it finds by a run path of its own, which the linker does not follow.
  target_link_libraries(torch INTERFACE ${TORCH_LIBRARY} ${NMT_TORCH_ROOT}/lib/libc10.so)
  target_link_options(torch INTERFACE -Wl,--allow-shlib-undefined)
endif()
