# Whole runs of nmt-translate and nmt-eval with a small model, trained for it in a minute on the built-in corpus.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
if(NMT_WITH_TORCH)
  add_test(NAME system_translate
           COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/translate_test.py
                   --programs ${CMAKE_BINARY_DIR} --work ${CMAKE_BINARY_DIR}/translate-test)
  set_tests_properties(system_translate PROPERTIES LABELS system TIMEOUT 900)
endif()
