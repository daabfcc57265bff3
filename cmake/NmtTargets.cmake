# nmt_library(NAME [TORCH] LINK ...): the static library nmt_NAME of src/NAME/*.cpp and one folder below (but kernels).
# nmt_interface(NAME [TORCH] LINK ... [WITHOUT FOLDER...]): the same of interfaces/NAME; A/B is nmt_A_B.
# nmt_programs(): one program for each apps/*.cpp, named after its file (nmt_train.cpp -> nmt-train).

# Run paths are those of an installed program from the start: CMake pads the ones of a build folder with empty elements, and
# an empty element is the current folder, searched before the system's. tests/system/linking_test.py reads them.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH "") # another in a build for packages: NmtPackages.cmake

# LibTorch's libraries export std::filesystem and other parts of the C++ library they were linked with, some of which call what
# is not there: std::filesystem::remove_all of the libtorch.so for CUDA ends the program. The first library that a program
# names is the first that is asked, so the system's own C++ library is named before them.
if(NMT_WITH_TORCH AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  add_link_options("SHELL:-Wl,--push-state,--no-as-needed -lstdc++ -Wl,--pop-state")
endif()

# The folders of LibTorch's libraries (and, in a build for CUDA, of the CUDA runtime's), and no others.
function(nmt_torch_run_path target)
  if(NMT_PACKAGE) # that of all programs
    return()
  endif()
  get_filename_component(folders ${TORCH_LIBRARY} DIRECTORY)
  if(NMT_WITH_CUDA AND CUDA_CUDART)
    get_filename_component(runtime ${CUDA_CUDART} DIRECTORY)
    list(APPEND folders ${runtime})
  endif()
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${folders}")
endfunction()

# One precompiled header for all that includes torch, of what nearly all of it needs: each file pays again for the templates
# of a greater one (torch/torch.h takes twice as long a file).
function(nmt_torch_setup target)
  target_include_directories(${target} BEFORE PRIVATE ${CMAKE_BINARY_DIR}/fmt-first)
  target_link_libraries(${target} PUBLIC torch)
  # at::parallel_for is a template: without OpenMP in the file that calls it, it runs on one thread, silently.
  # By flags, not by its imported target: that names the compiler's libgomp beside the one that LibTorch brings along.
  target_compile_options(${target} PUBLIC ${OpenMP_CXX_FLAGS})
  target_link_options(${target} PUBLIC ${OpenMP_CXX_FLAGS})
  target_include_directories(${target} SYSTEM PUBLIC ${TORCH_INCLUDE_DIRS})
  if(NMT_WITH_CUDA)
    target_compile_definitions(${target} PUBLIC NMT_WITH_CUDA)
    # Nothing refers to torch_cuda by name: without this the linker drops it and no device is found.
    target_link_options(${target} INTERFACE -Wl,--no-as-needed)
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE)
    nmt_torch_run_path(${target})
  endif()
  if(NMT_PACKAGE AND NMT_SHORT_PATHS)
    nmt_no_paths(${target})
  endif()
  if(target STREQUAL nmt_nn)
    target_precompile_headers(${target} PRIVATE <torch/types.h> <torch/nn/module.h> <torch/nn/pimpl.h>)
  else()
    target_precompile_headers(${target} REUSE_FROM nmt_nn)
  endif()
endfunction()

# Most files are small, and the headers of LibTorch, JSON and spdlog cost seconds in each of them: several files are
# compiled as one (six take the time of two). A change compiles its neighbours again: some 10 s. NMT_UNITY=OFF compiles
# each alone, as an editor or a linter does.
option(NMT_UNITY "Compile several source files as one" ON)
function(nmt_unity target files_at_once)
  if(NMT_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files_at_once})
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)  # a .cpp that is included is no header
    endif()
  endif()
endfunction()

# The fuzz targets put another one in its place (tests/fuzz/heap_mapped_file.cpp): it stays an object of its own.
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/base/files/mapped_file.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
# libnmt_torch.so trains in one process: it leaves these objects out, and so does not load MPI.
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/training/distributed/mpi_process_group.cpp
                            ${CMAKE_SOURCE_DIR}/src/training/distributed/make_process_group.cpp
                            PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# nmt_library_of(TARGET FOLDER INCLUDE [TORCH] LINK ...): a static library of FOLDER/*.cpp and one folder below, included from INCLUDE.
function(nmt_library_of target folder include)
  cmake_parse_arguments(ARG "TORCH" "" "LINK;WITHOUT" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp ${folder}/*/*.cpp)
  foreach(part ${ARG_WITHOUT})
    list(FILTER sources EXCLUDE REGEX "${folder}/${part}/")
  endforeach()
  add_library(${target} STATIC ${sources})
  target_include_directories(${target} PUBLIC ${include})
  target_link_libraries(${target} PUBLIC ${ARG_LINK})
  nmt_unity(${target} 6)
  if(ARG_TORCH)
    nmt_torch_setup(${target})
  endif()
endfunction()

function(nmt_library name)
  nmt_library_of(nmt_${name} ${CMAKE_SOURCE_DIR}/src/${name} ${CMAKE_SOURCE_DIR}/src WITHOUT kernels inference ${ARGN})
  if(name STREQUAL base)
    target_compile_definitions(nmt_base PRIVATE NMT_VERSION="${PROJECT_VERSION}")
  endif()
endfunction()

function(nmt_interface name)
  string(REPLACE "/" "_" target nmt_${name})
  nmt_library_of(${target} ${CMAKE_SOURCE_DIR}/interfaces/${name} ${CMAKE_SOURCE_DIR}/interfaces ${ARGN})
endfunction()

# nmt_kernels(): src/nn/kernels, torch-free; the same bodies compiled for several instruction sets, chosen at run time.
# Here a*b+c may be one rounding: nothing that is published as a score is computed in it.
function(nmt_kernels)
  set(folder ${CMAKE_SOURCE_DIR}/src/nn/kernels)
  add_library(nmt_kernels STATIC ${folder}/kernels.cpp ${folder}/products.cpp)
  target_include_directories(nmt_kernels PUBLIC ${CMAKE_SOURCE_DIR}/src)
  nmt_kernel_options(nmt_kernels)
  nmt_kernel_set(baseline "kernel packed training")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    nmt_kernel_set(avx2 "kernel packed training" -march=x86-64-v3)
    nmt_kernel_set(avx_vnni "packed" -march=x86-64-v3 -mavxvnni)
    set(avx512 -march=x86-64-v4 -mprefer-vector-width=512)
    nmt_kernel_set(avx512 "kernel packed training" ${avx512})
    nmt_kernel_set(avx512_vnni "packed" ${avx512} -mavx512vnni)
    nmt_kernel_set(avx512_bf16 "packed training" ${avx512} -mavx512vnni -mavx512bf16)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    nmt_kernel_set(neon "packed" -DNMT_PACKED_NEON)
    set(level -march=armv8.2-a)
    foreach(extension dotprod i8mm bf16) # each on top of those before it: src/nn/kernels/arm_level.h
      string(APPEND level +${extension})
      nmt_kernel_set(neon_${extension} "packed" -DNMT_PACKED_NEON ${level})
    endforeach()
  endif()
endfunction()

# nmt_kernel_set(NAME "PART..." OPTION...): kernel_set.cpp, packed_set.cpp and training_set.cpp, or some of them, compiled
# with these options in a namespace NAME.
function(nmt_kernel_set name parts)
  string(REPLACE " " ";" parts "${parts}")
  set(kernel kernel_set.cpp)
  set(packed packed/packed_set.cpp)
  set(training training/training_set.cpp)
  set(sources)
  foreach(part ${parts})
    list(APPEND sources ${CMAKE_SOURCE_DIR}/src/nn/kernels/${${part}})
  endforeach()
  add_library(nmt_kernels_${name} OBJECT ${sources})
  target_include_directories(nmt_kernels_${name} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_compile_definitions(nmt_kernels_${name} PRIVATE NMT_KERNEL_SET=${name})
  nmt_kernel_options(nmt_kernels_${name})
  target_compile_options(nmt_kernels_${name} PRIVATE ${ARGN})
  target_sources(nmt_kernels PRIVATE $<TARGET_OBJECTS:nmt_kernels_${name}>)
endfunction()

function(nmt_kernel_options target)
  set(level -O3)
  if(NMT_SANITIZE)
    set(level -O1)  # they look at every access, and with -O3 compile for minutes
    if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
      set(level -O0)  # clang 16 itself crashes on the set avx512_bf16 with -O1
    endif()
  endif()
  target_compile_options(${target} PRIVATE ${level} -ffp-contract=fast -fno-math-errno -fno-trapping-math -Wno-psabi)
endfunction()

# nmt_document_program(): nmt-document, which reads documents apart from the programs that translate them. They look for it
# beside themselves, in ../libexec/nmt, and at NMT_DOCUMENT_PROGRAM.
function(nmt_document_program)
  if(NMT_PACKAGE)
    target_compile_definitions(nmt_documents PRIVATE NMT_DOCUMENT_PROGRAM="${CMAKE_INSTALL_PREFIX}/libexec/nmt/nmt-document")
  else()
    target_compile_definitions(nmt_documents PRIVATE NMT_DOCUMENT_PROGRAM="$<TARGET_FILE:nmt-document>")
  endif()
  add_executable(nmt-document ${CMAKE_SOURCE_DIR}/interfaces/documents/program/nmt_document.cpp)
  target_link_libraries(nmt-document PRIVATE nmt_documents)
  if(NMT_SANITIZE)
    target_compile_definitions(nmt-document PRIVATE NMT_SANITIZED)
  endif()
  target_link_options(nmt-document PRIVATE -Wl,--as-needed) # what is not loaded takes no time at each start
  if(NMT_PACKAGE)
    set_target_properties(nmt-document PROPERTIES INSTALL_RPATH "$ORIGIN/../../lib/nmt;$ORIGIN/../lib/nmt")
  endif()
  install(TARGETS nmt-document RUNTIME DESTINATION libexec/nmt COMPONENT programs)
endfunction()

# The libraries a program needs beyond base; a program that is not named here gets everything.
set(NMT_LIBRARIES_nmt_score nmt_scoring)
set(NMT_LIBRARIES_nmt_init nmt_data)
set(NMT_LIBRARIES_nmt_distill nmt_data)
set(NMT_LIBRARIES_nmt_prepro nmt_data)
set(NMT_LIBRARIES_nmt_export nmt_convert)

function(nmt_programs)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/apps/*.cpp)
  foreach(source ${sources})
    get_filename_component(stem ${source} NAME_WE)
    string(REPLACE "_" "-" program ${stem})
    if(stem STREQUAL nmt) # the front door: tiny, for it stands before every start of another
      add_executable(nmt_front_door ${source} ${CMAKE_SOURCE_DIR}/src/base/edit_distance.cpp)
      set_target_properties(nmt_front_door PROPERTIES OUTPUT_NAME nmt) # the target nmt is the library
      target_include_directories(nmt_front_door PRIVATE ${CMAKE_SOURCE_DIR}/src)
      target_compile_definitions(nmt_front_door PRIVATE NMT_VERSION="${PROJECT_VERSION}")
      set_property(GLOBAL APPEND PROPERTY NMT_PROGRAMS nmt_front_door)
      continue()
    endif()
    if((stem STREQUAL nmt_export AND NOT NMT_WITH_CONVERT) OR (stem STREQUAL nmt_distill AND NOT (NMT_WITH_CONVERT AND NMT_WITH_TORCH)))
      continue() # nmt-distill calls the others
    elseif(DEFINED NMT_LIBRARIES_${stem})
      set(libraries ${NMT_LIBRARIES_${stem}})
    elseif(NMT_WITH_TORCH AND stem STREQUAL nmt_translate)
      set(libraries nmt_translation nmt_report) # LibTorch is loaded when it is needed
      foreach(interface documents server_models)
        if(TARGET nmt_${interface})
          list(APPEND libraries nmt_${interface})
        endif()
      endforeach()
    elseif(NMT_WITH_TORCH AND stem STREQUAL nmt_eval)
      set(libraries nmt_evaluation)
    elseif(NMT_WITH_TORCH)
      set(libraries nmt_training)
      if(NMT_WITH_COMPAT)
        list(PREPEND libraries nmt_compat_training)
      endif()
    else()
      continue()
    endif()
    if(NMT_WITH_COMPAT AND stem MATCHES "^nmt_(prepro|eval)$")
      list(PREPEND libraries nmt_compat)
    endif()
    if(NMT_WITH_LANGUAGE AND stem STREQUAL nmt_prepro)
      list(PREPEND libraries nmt_language)
    endif()
    add_executable(${program} ${source})
    target_link_libraries(${program} PRIVATE ${libraries} nmt_base CLI11::CLI11)
    if(TARGET nmt-document AND nmt_documents IN_LIST libraries)
      add_dependencies(${program} nmt-document)
    endif()
    target_compile_definitions(${program} PRIVATE
      NMT_SENTENCEPIECE_VERSION="${NMT_SENTENCEPIECE_VERSION}" NMT_TORCH_VERSION="${Torch_VERSION}" # for --version
      $<$<BOOL:${NMT_WITH_COMPAT}>:NMT_WITH_COMPAT> $<$<BOOL:${NMT_WITH_DOCUMENTS}>:NMT_WITH_DOCUMENTS>
      $<$<BOOL:${NMT_WITH_SERVER}>:NMT_WITH_SERVER> $<$<BOOL:${NMT_WITH_LANGUAGE}>:NMT_WITH_LANGUAGE>)
    if(stem STREQUAL nmt_translate)
      nmt_find_torch_library(${program} ${CMAKE_INSTALL_BINDIR})
    elseif(NOT DEFINED NMT_LIBRARIES_${stem})
      nmt_torch_setup(${program})
    endif()
    set_property(GLOBAL APPEND PROPERTY NMT_PROGRAMS ${program})
  endforeach()
  get_property(programs GLOBAL PROPERTY NMT_PROGRAMS)
  if(programs)
    add_custom_target(programs DEPENDS ${programs})
    include(GNUInstallDirs)
    install(TARGETS ${programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs)
    install(DIRECTORY ${CMAKE_SOURCE_DIR}/configs DESTINATION ${CMAKE_INSTALL_DATADIR}/nmt COMPONENT programs)
  endif()
endfunction()
