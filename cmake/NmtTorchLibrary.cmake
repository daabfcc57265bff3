# libnmt_torch.so: what needs LibTorch, for programs and libraries that translate without it. They open it by its name when a
# model, a request or a training asks for what the toolkit's own buffers do not do (src/translation/torch_library.h).
include(GNUInstallDirs)
set(NMT_TORCH_EXPORTS ${CMAKE_BINARY_DIR}/torch_library.map)
set(functions "nmt_load_with_torch; nmt_reuse_freed_tensors; nmt_torch_version;")
if(NMT_WITH_LIBRARY)
  string(APPEND functions " nmt_train_with_torch;")
endif()
file(CONFIGURE OUTPUT ${NMT_TORCH_EXPORTS} CONTENT "{ global: ${functions} local: *; };\n")

# nmt_torch_library(TARGET): a library libnmt_torch.so. Where it stands and its run path are the caller's.
function(nmt_torch_library target)
  add_library(${target} SHARED $<TARGET_OBJECTS:nmt_models>)
  target_link_libraries(${target} PRIVATE nmt_nn nmt_search)
  if(NMT_WITH_LIBRARY)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:nmt_library_training>)
    target_link_libraries(${target} PRIVATE nmt_compat_training nmt_training)
  endif()
  set_target_properties(${target} PROPERTIES OUTPUT_NAME nmt_torch LINKER_LANGUAGE CXX LINK_DEPENDS ${NMT_TORCH_EXPORTS})
  # Never unloaded: threads and thread-local objects of LibTorch outlive every call.
  target_link_options(${target} PRIVATE -Wl,--version-script=${NMT_TORCH_EXPORTS} -Wl,-z,nodelete)
  if(NOT NMT_WITH_CUDA)
    target_link_options(${target} PRIVATE -Wl,--as-needed) # MPI, which only nmt-train uses
  endif()
endfunction()

nmt_torch_library(nmt_torch)
nmt_torch_run_path(nmt_torch)
set(component programs)
if(NMT_PACKAGE) # a library and a Python module are installed without the programs, but not without LibTorch
  set(component torch)
  set_target_properties(nmt_torch PROPERTIES INSTALL_RPATH "$ORIGIN" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/nmt)
endif()
install(TARGETS nmt_torch LIBRARY DESTINATION lib/nmt COMPONENT ${component})
if(NMT_SIMULATED_DEVICE)
  target_compile_definitions(nmt_translation PRIVATE NMT_SIMULATED_DEVICE)
elseif(NMT_WITH_CUDA)
  target_compile_definitions(nmt_translation PRIVATE NMT_WITH_CUDA)
endif()

# nmt_find_torch_library(TARGET FOLDER): it finds the library beside itself (in the build folder) and in lib/nmt. FOLDER: where
# it is installed itself, below the prefix.
function(nmt_find_torch_library target folder)
  add_dependencies(${target} nmt_torch)
  file(RELATIVE_PATH to_library /prefix/${folder} /prefix/lib/nmt)
  set(run_path "$ORIGIN/${to_library}")
  if(NOT NMT_PACKAGE) # there the build folder is arranged as an installation
    list(PREPEND run_path "$ORIGIN")
  endif()
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${run_path}")
endfunction()
