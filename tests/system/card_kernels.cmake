# kernels/ (Triton): what can be said without a card. In the Python of scripts/kernel_python.sh where it is there; any other one
# looks whether kernels/compiled.z is made of the sources, and skips the rest.
set(python ${CMAKE_SOURCE_DIR}/.deps/kernels/bin/python)
if(NOT EXISTS ${python})
  find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
  set(python ${Python3_EXECUTABLE})
endif()
add_test(NAME unit_card_kernels COMMAND ${python} -B -m unittest discover -v -s ${CMAKE_SOURCE_DIR}/tests/kernels)
set_tests_properties(unit_card_kernels PROPERTIES LABELS "unit;device" TIMEOUT 900 ENVIRONMENT "${NMT_TEST_ENVIRONMENT}")
