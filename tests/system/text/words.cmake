# A whole run on word vocabularies: a tiny Transformer learns to sort digits.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
if(NMT_WITH_TORCH)
  add_test(NAME system_words
           COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/words_test.py
                   --programs ${CMAKE_BINARY_DIR} --work ${CMAKE_BINARY_DIR}/words-test)
  set_tests_properties(system_words PROPERTIES LABELS system TIMEOUT 900)
endif()
