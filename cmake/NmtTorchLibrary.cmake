# libnmt_torch.so: what needs LibTorch, for programs that translate without it (src/translation/ready_models.h). They open it by
# its name when a model or a request asks for what the toolkit's own buffers do not do.
set(exports ${CMAKE_BINARY_DIR}/torch_library.map)
file(CONFIGURE OUTPUT ${exports} CONTENT "{ global: nmt_load_with_torch; nmt_torch_version; local: *; };\n")
add_library(nmt_torch SHARED $<TARGET_OBJECTS:nmt_models>)
set_target_properties(nmt_torch PROPERTIES LINKER_LANGUAGE CXX LINK_DEPENDS ${exports})
# Never unloaded: threads and thread-local objects of LibTorch outlive every call.
target_link_options(nmt_torch PRIVATE -Wl,--version-script=${exports} -Wl,-z,nodelete)
target_link_libraries(nmt_torch PRIVATE nmt_nn nmt_search)
nmt_torch_run_path(nmt_torch)
if(NMT_PACKAGE)
  set_target_properties(nmt_torch PROPERTIES INSTALL_RPATH "$ORIGIN" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/nmt)
endif()
install(TARGETS nmt_torch LIBRARY DESTINATION lib/nmt COMPONENT programs)
if(NMT_SIMULATED_DEVICE)
  target_compile_definitions(nmt_translation PRIVATE NMT_SIMULATED_DEVICE)
elseif(NMT_WITH_CUDA)
  target_compile_definitions(nmt_translation PRIVATE NMT_WITH_CUDA)
endif()

# nmt_find_torch_library(PROGRAM): it finds the library beside itself (in the build folder) and in ../lib/nmt.
function(nmt_find_torch_library program)
  add_dependencies(${program} nmt_torch)
  if(NOT NMT_PACKAGE) # there it is the run path of all programs
    set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN;$ORIGIN/../lib/nmt")
  endif()
endfunction()
