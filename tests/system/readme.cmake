# The commands of README and of each guide's first screen, as they stand there.
if(NMT_WITH_TORCH AND NMT_WITH_CONVERT AND NMT_WITH_SERVER)
  find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
  foreach(name readme guides)
    add_test(NAME system_${name}
             COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/${name}_test.py --programs ${CMAKE_BINARY_DIR})
    set_tests_properties(system_${name} PROPERTIES LABELS system TIMEOUT 300)
  endforeach()
endif()
