# How every program and test of this build is linked, and an installed program: run paths, and symbols defined twice.
add_test(NAME system_linking
         COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/linking_test.py --build ${CMAKE_BINARY_DIR})
set_tests_properties(system_linking PROPERTIES LABELS system TIMEOUT 300)
