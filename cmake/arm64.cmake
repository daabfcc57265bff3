# Toolchain file: Debian's cross compiler for ARM64 (g++-aarch64-linux-gnu). Programs run here under QEMU's emulation of a
# processor, which the variable QEMU_CPU names (qemu-aarch64 -cpu help). NMT_ARM64_SYSROOT: a folder with libraries of
# Debian's arm64 (scripts/cross_arm64.sh --all); without it there is the C++ library alone.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES NMT_ARM64_SYSROOT)
if(NMT_ARM64_SYSROOT)
  set(CMAKE_SYSROOT ${NMT_ARM64_SYSROOT})
  set(CMAKE_FIND_ROOT_PATH ${NMT_ARM64_SYSROOT})
else()
  set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
endif()
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${CMAKE_FIND_ROOT_PATH})
# Nothing of this machine's own libraries.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
