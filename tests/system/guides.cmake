# The commands on the first screen of each guide.
if(NMT_WITH_TORCH AND NMT_WITH_CONVERT AND NMT_WITH_SERVER)
  find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
  add_test(NAME system_guides
           COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/guides_test.py --programs ${CMAKE_BINARY_DIR})
  set_tests_properties(system_guides PROPERTIES LABELS system TIMEOUT 300)
endif()
