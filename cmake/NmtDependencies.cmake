# What the toolkit stands on; scripts/setup.sh installs all of it.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(ICU REQUIRED COMPONENTS uc i18n)
find_package(ZLIB REQUIRED)
find_path(NMT_ZSTD_INCLUDE zstd.h REQUIRED) # old versions have no CMake files, newer ones differ in the target's name
find_library(NMT_ZSTD zstd REQUIRED)
add_library(libzstd UNKNOWN IMPORTED)
set_target_properties(libzstd PROPERTIES IMPORTED_LOCATION ${NMT_ZSTD} INTERFACE_INCLUDE_DIRECTORIES ${NMT_ZSTD_INCLUDE})
find_package(EXPAT REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto SSL)
if(NMT_WITH_SERVER)
  find_package(Boost 1.74 REQUIRED) # headers only: Asio and Beast
endif()
if(NMT_WITH_LANGUAGE)
  find_path(NMT_CLD2_INCLUDE cld2/public/compact_lang_det.h REQUIRED)
  find_library(NMT_CLD2 cld2 REQUIRED)
  add_library(CLD2::CLD2 UNKNOWN IMPORTED)
  set_target_properties(CLD2::CLD2 PROPERTIES IMPORTED_LOCATION ${NMT_CLD2} INTERFACE_INCLUDE_DIRECTORIES ${NMT_CLD2_INCLUDE})
endif()

if(NMT_WITH_DOCUMENTS OR NMT_WITH_CONVERT) # documents and weights that are zip archives
  # Debian's package of libzip names programs in its CMake files that it does not bring along.
  find_path(NMT_LIBZIP_INCLUDE zip.h REQUIRED)
  find_library(NMT_LIBZIP zip REQUIRED)
  add_library(libzip UNKNOWN IMPORTED)
  set_target_properties(libzip PROPERTIES IMPORTED_LOCATION ${NMT_LIBZIP} INTERFACE_INCLUDE_DIRECTORIES ${NMT_LIBZIP_INCLUDE})
endif()

# LibTorch ships headers of another fmt in its include folder, which would shadow the system's and break spdlog:
# a folder that holds nothing but a link to the system's fmt goes first (docs/building.md).
get_target_property(NMT_FMT_INCLUDE fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
find_path(NMT_FMT_DIR fmt/core.h HINTS ${NMT_FMT_INCLUDE} REQUIRED)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/fmt-first)
file(CREATE_LINK ${NMT_FMT_DIR}/fmt ${CMAKE_BINARY_DIR}/fmt-first/fmt SYMBOLIC)

if(NMT_WITH_TORCH)
  # Order: CMAKE_PREFIX_PATH or Torch_DIR, then the project's own environment, then the python3 of the PATH.
  if(NOT Torch_DIR AND NOT CMAKE_PREFIX_PATH AND NOT DEFINED ENV{CMAKE_PREFIX_PATH})
    foreach(python ${CMAKE_SOURCE_DIR}/.deps/torch/bin/python python3)
      execute_process(COMMAND ${python} -c "import torch; print(torch.utils.cmake_prefix_path)"
                      OUTPUT_VARIABLE NMT_TORCH_PREFIX OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE NMT_NO_TORCH)
      if(NMT_NO_TORCH EQUAL 0)
        set(Torch_DIR ${NMT_TORCH_PREFIX}/Torch)
        break()
      endif()
    endforeach()
  endif()
  include(NmtTorchCpuPart)
  if(NOT TARGET torch)
    find_package(Torch REQUIRED)
  endif()
  find_package(OpenMP REQUIRED COMPONENTS CXX)
  if(Torch_VERSION VERSION_LESS 2.11)
    message(FATAL_ERROR "LibTorch ${Torch_VERSION} is too old: 2.11 or newer is needed (scripts/setup.sh installs one)")
  endif()
  # CUDA code is guarded by NMT_WITH_CUDA: set where this LibTorch was built for CUDA.
  set(NMT_WITH_CUDA OFF)
  if(TARGET torch_cuda OR TORCH_CUDA_LIBRARIES)
    set(NMT_WITH_CUDA ON)
  endif()
  message(STATUS "LibTorch ${Torch_VERSION}, CUDA ${NMT_WITH_CUDA}")
endif()
