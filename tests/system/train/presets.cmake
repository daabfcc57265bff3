# Every preset of configs/, made tiny: prepared, trained for a few updates, evaluated, loaded again, on the built-in corpus.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
if(NMT_WITH_TORCH AND NMT_WITH_COMPAT)
  add_test(NAME system_presets
           COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/presets_test.py --programs ${CMAKE_BINARY_DIR})
  set_tests_properties(system_presets PROPERTIES LABELS system TIMEOUT 900)
endif()
