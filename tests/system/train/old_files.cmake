# What an older version wrote is read by this one.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
if(NMT_WITH_TORCH)
  add_test(NAME system_old_files
           COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_LIST_DIR}/old_files_test.py --programs ${CMAKE_BINARY_DIR})
  set_tests_properties(system_old_files PROPERTIES LABELS system TIMEOUT 300)
endif()
