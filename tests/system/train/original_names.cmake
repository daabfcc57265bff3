# Whole runs: files under the names of the original programs, word vectors, attention pictures, another task.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
if(NMT_WITH_TORCH AND NMT_WITH_COMPAT)
  add_test(NAME system_original_names
           COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/original_names_test.py --programs ${CMAKE_BINARY_DIR})
  set_tests_properties(system_original_names PROPERTIES LABELS system TIMEOUT 600)
endif()
