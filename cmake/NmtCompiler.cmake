# Compiler settings that hold for every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()

find_program(NMT_CCACHE ccache)
if(NMT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # pch_defines/time_macros: without them ccache refuses every file that uses the precompiled header.
  # CCACHE_BASEDIR: paths below the source folder count as relative, so that a second clone finds what the first compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${NMT_CCACHE})
endif()

# Files call themselves (__FILE__ in LibTorch's checks) by their path below the source folder: ccache gives a second clone what the
# first compiled.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)

# Scores must be the same figures on every machine: no contraction of a*b+c into one rounding, no fast-math.
add_compile_options(-Wall -Wextra -Wno-unused-parameter -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Wno-restrict)  # false alarms at every "text" + string (GCC bug 105651)
endif()
option(NMT_WERROR "Warnings are errors (for the project's own checks)" OFF)
if(NMT_WERROR)
  add_compile_options(-Werror)
endif()
# The programs and the shared library are linked from the same objects. Hidden symbols: what the library exports is said in its
# headers, and calls between its own functions stay as direct as in a program.
add_compile_options(-fPIC -fvisibility=hidden $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>)
# The programs read files and requests of strangers: a stack that is overwritten, an index beyond a vector or a string
# function beyond its buffer ends the program instead of continuing. (Sanitizers bring stronger checks of their own.)
option(NMT_HARDENING "Stack protector, checked library calls, read-only relocations" ON)
if(NMT_HARDENING AND NOT NMT_SANITIZE)
  add_compile_options(-fstack-protector-strong -fstack-clash-protection $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE>
                      $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2> -D_GLIBCXX_ASSERTIONS)
  add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack)
endif()
if(NMT_SANITIZE)
  add_compile_options(-fsanitize=${NMT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${NMT_SANITIZE})
endif()
