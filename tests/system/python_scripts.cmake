# The tests of data_scripts/ and scripts/: Python's standard library is all they need.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
foreach(folder data_scripts scripts)
  add_test(NAME unit_${folder}
           COMMAND ${Python3_EXECUTABLE} -B -m unittest discover -v -s ${CMAKE_SOURCE_DIR}/tests/${folder})
  set_tests_properties(unit_${folder} PROPERTIES LABELS "unit;core" TIMEOUT 300 ENVIRONMENT "${NMT_TEST_ENVIRONMENT}")
endforeach()
