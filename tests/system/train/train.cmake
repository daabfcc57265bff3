# Runs of nmt-train that are killed, stopped, damaged and out of disk, and must end in the weights of an unbroken one; and one
# that is very long.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
function(nmt_training_test label script)
  add_test(NAME ${label}_${script}
           COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${script}.py $<TARGET_FILE:nmt-prepro>
                   $<TARGET_FILE:nmt-train> ${ARGN} -v)
  set_tests_properties(${label}_${script} PROPERTIES LABELS ${label} TIMEOUT 3600)
endfunction()
if(NMT_WITH_TORCH)
  nmt_training_test(system train_kill)
  nmt_training_test(long train_soak)
  nmt_training_test(long train_positions)
  add_library(plain_file_system MODULE ${CMAKE_SOURCE_DIR}/tests/system/train/plain_file_system.cpp
                                       ${CMAKE_SOURCE_DIR}/tests/base/files/faked_file_system.cpp)
  target_include_directories(plain_file_system PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(plain_file_system PRIVATE ${CMAKE_DL_LIBS})
  target_compile_options(plain_file_system PRIVATE -fvisibility=default)  # its functions stand in for those of the C library
  nmt_training_test(system train_plain_file_system $<TARGET_FILE:plain_file_system>
                    OnAPlainFileSystem)
  nmt_training_test(long train_plain_file_system $<TARGET_FILE:plain_file_system> LongKills)
endif()
