# README's commands, as they stand there.
if(NMT_WITH_TORCH AND NMT_WITH_CONVERT AND NMT_WITH_SERVER)
  find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
  add_test(NAME system_readme
           COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/readme_test.py --programs ${CMAKE_BINARY_DIR})
  set_tests_properties(system_readme PROPERTIES LABELS system TIMEOUT 300)
endif()
