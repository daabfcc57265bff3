# From two files to a translation, by the commands that nmt-init prints.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
add_test(NAME system_init
         COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/init_test.py --programs ${CMAKE_BINARY_DIR})
set_tests_properties(system_init PROPERTIES LABELS system TIMEOUT 300)
