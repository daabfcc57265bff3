# SentencePiece, built here from its source release as a static library of hidden symbols (target nmt_sentencepiece).
# Not Debian's shared library: that exports its flags and its copy of Protocol Buffers under the names that LibTorch exports
# its own, and the dynamic linker makes one variable of two (docs/building.md). scripts/setup.sh downloads the source.
set(NMT_SENTENCEPIECE_VERSION 0.2.1)
set(NMT_SENTENCEPIECE_SOURCE ${CMAKE_SOURCE_DIR}/.deps/sentencepiece-${NMT_SENTENCEPIECE_VERSION} CACHE PATH
    "Folder of SentencePiece's source release (with src/ and third_party/)")
if(NOT EXISTS ${NMT_SENTENCEPIECE_SOURCE}/src/sentencepiece_processor.cc)
  message(FATAL_ERROR "No SentencePiece source in ${NMT_SENTENCEPIECE_SOURCE}: run scripts/setup.sh, or name its folder with "
                      "-DNMT_SENTENCEPIECE_SOURCE=")
endif()
file(STRINGS ${NMT_SENTENCEPIECE_SOURCE}/VERSION.txt NMT_SENTENCEPIECE_FOUND LIMIT_COUNT 1)
if(NOT NMT_SENTENCEPIECE_FOUND STREQUAL NMT_SENTENCEPIECE_VERSION)
  message(FATAL_ERROR "SentencePiece ${NMT_SENTENCEPIECE_FOUND} in ${NMT_SENTENCEPIECE_SOURCE}: "
                      "${NMT_SENTENCEPIECE_VERSION} is needed (another version makes other vocabularies)")
endif()

file(GLOB sources ${NMT_SENTENCEPIECE_SOURCE}/src/*.cc ${NMT_SENTENCEPIECE_SOURCE}/src/builtin_pb/*.cc
     ${NMT_SENTENCEPIECE_SOURCE}/third_party/protobuf-lite/*.cc ${NMT_SENTENCEPIECE_SOURCE}/third_party/absl/flags/*.cc)
list(FILTER sources EXCLUDE REGEX "(_main|_test|/testharness|/io_win32)\\.cc$")

file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/sentencepiece/config.h CONTENT
     "#define VERSION \"${NMT_SENTENCEPIECE_VERSION}\"\n#define PACKAGE_STRING \"sentencepiece\"\n#define INSTALL_DATADIR \"\"\n")

add_library(nmt_sentencepiece STATIC ${sources})
target_include_directories(nmt_sentencepiece SYSTEM INTERFACE ${NMT_SENTENCEPIECE_SOURCE}/src)
target_include_directories(nmt_sentencepiece PRIVATE
  ${CMAKE_BINARY_DIR}/sentencepiece ${NMT_SENTENCEPIECE_SOURCE} ${NMT_SENTENCEPIECE_SOURCE}/src
  ${NMT_SENTENCEPIECE_SOURCE}/src/builtin_pb ${NMT_SENTENCEPIECE_SOURCE}/third_party
  ${NMT_SENTENCEPIECE_SOURCE}/third_party/protobuf-lite)
target_compile_definitions(nmt_sentencepiece PRIVATE _USE_INTERNAL_STRING_VIEW HAVE_PTHREAD=1)
target_compile_options(nmt_sentencepiece PRIVATE -w)
set_target_properties(nmt_sentencepiece PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
  POSITION_INDEPENDENT_CODE ON)
if(NMT_UNITY) # a third of the time; each file of Protocol Buffers wants its macros undefined before it
  set_target_properties(nmt_sentencepiece PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  list(FILTER sources INCLUDE REGEX "/protobuf-lite/")
  set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endif()
target_link_libraries(nmt_sentencepiece PUBLIC Threads::Threads)
