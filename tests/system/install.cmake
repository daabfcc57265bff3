# cmake --install, then the installed programs, away from the build folder.
add_test(NAME system_install
         COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/install_test.py
                 --build ${CMAKE_BINARY_DIR} --cmake ${CMAKE_COMMAND} --torch $<BOOL:${NMT_WITH_TORCH}>)
set_tests_properties(system_install PROPERTIES LABELS system TIMEOUT 300)
