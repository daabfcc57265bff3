# The installed library: examples/ and the programs of docs/library.md built against it, nmt.h from C and from Python.
if(NMT_WITH_LIBRARY)
  add_test(NAME system_library
           COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/library_test.py
                   --build ${CMAKE_BINARY_DIR} --work ${CMAKE_BINARY_DIR}/translate-test --cmake ${CMAKE_COMMAND}
                   --cc gcc --cxx ${CMAKE_CXX_COMPILER})
  set_tests_properties(system_library PROPERTIES LABELS system TIMEOUT 900 FIXTURES_REQUIRED translate_model)
endif()
