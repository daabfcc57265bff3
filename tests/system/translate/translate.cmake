# Whole runs of nmt-translate and nmt-eval with a small model, trained for it in a minute on the built-in corpus.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
if(NMT_WITH_TORCH)
  set(translate_arguments --programs ${CMAKE_BINARY_DIR} --work ${CMAKE_BINARY_DIR}/translate-test)
  function(nmt_translate_test name script label)
    add_test(NAME ${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/${script}.py ${translate_arguments})
    set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 900 ${ARGN})
  endfunction()
  nmt_translate_test(system_translate_model translate_support system FIXTURES_SETUP translate_model)
  nmt_translate_test(system_translate translate_test system FIXTURES_REQUIRED translate_model)
  nmt_translate_test(system_translate_errors translate_errors_test system FIXTURES_REQUIRED translate_model)
  nmt_translate_test(system_eval eval_test system FIXTURES_REQUIRED translate_model)
  nmt_translate_test(system_translate_shortlist translate_shortlist_test system FIXTURES_REQUIRED translate_model)
  nmt_translate_test(system_translate_quantized translate_quantized_test system FIXTURES_REQUIRED translate_model)
  nmt_translate_test(system_translate_formats translate_formats_test system FIXTURES_REQUIRED translate_model)
  add_test(NAME system_translate_reversed_source
           COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/reversed_source_test.py --programs ${CMAKE_BINARY_DIR})
  set_tests_properties(system_translate_reversed_source PROPERTIES LABELS system TIMEOUT 900)
  nmt_translate_test(system_translate_robustness translate_robustness_test system FIXTURES_REQUIRED translate_model)
  nmt_translate_test(long_translate_fuzz translate_robustness_test long FIXTURES_REQUIRED translate_model
                     ENVIRONMENT NMT_FUZZ_SECONDS=60)
  nmt_translate_test(long_translate_memory translate_memory_test long FIXTURES_REQUIRED translate_model)
  set_tests_properties(long_translate_memory PROPERTIES TIMEOUT 3600)
  nmt_translate_test(long_serve_memory serve_memory_test long FIXTURES_REQUIRED translate_model)
  set_tests_properties(long_serve_memory PROPERTIES TIMEOUT 3600)
  nmt_translate_test(long_serve_soak serve_soak_test long FIXTURES_REQUIRED translate_model)
  set_tests_properties(long_serve_soak PROPERTIES TIMEOUT 5400)
endif()

# What stands between a user's bytes and the model needs no LibTorch: so it runs under the sanitizers.
set(translation ${CMAKE_SOURCE_DIR}/src/translation)
nmt_fuzz_test(translating_fuzz LINK nmt_text nmt_report
              SOURCES ${translation}/input_format.cpp ${translation}/output_format.cpp ${translation}/lines/word_alignment.cpp)
