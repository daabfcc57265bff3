# nmt-translate --serve with the small model of translate.cmake; the long one is 64 clients for a minute. Its page in headless
# Chromium, where there is one.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
if(NMT_WITH_TORCH AND NMT_WITH_SERVER)
  function(nmt_serve_test name script label)
    add_test(NAME ${name} COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_LIST_DIR}/${script}.py
                                  --programs ${CMAKE_BINARY_DIR} --work ${CMAKE_BINARY_DIR}/translate-test ${ARGN})
    set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 900 FIXTURES_REQUIRED translate_model)
  endfunction()
  nmt_serve_test(system_serve serve_test system)
  nmt_serve_test(system_serve_limits serve_limits_test system)
  add_library(few_threads MODULE ${CMAKE_CURRENT_LIST_DIR}/few_threads.cpp)
  target_link_libraries(few_threads PRIVATE ${CMAKE_DL_LIBS})
  target_compile_options(few_threads PRIVATE -fvisibility=default)  # its function stands in for that of the C library
  # What is timed waits for a machine of its own.
  nmt_serve_test(system_serve_cost serve_cost_test system Cost.test_who_has_left_costs_nothing
                 Cost.test_many_connections_of_one_client
                 Files FewThreads)
  nmt_serve_test(long_serve_cost serve_cost_test long)
  set_tests_properties(system_serve_cost long_serve_cost PROPERTIES ENVIRONMENT NMT_TEST_FEW_THREADS=$<TARGET_FILE:few_threads>)
  nmt_serve_test(long_serve serve_test long Load)
  add_test(NAME system_libretranslate COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_LIST_DIR}/libretranslate_test.py
                                              --programs ${CMAKE_BINARY_DIR} --work ${CMAKE_BINARY_DIR}/translate-test)
  set_tests_properties(system_libretranslate PROPERTIES LABELS system FIXTURES_REQUIRED translate_model)
  foreach(part page page_panels page_safety)
    add_test(NAME system_${part} COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_LIST_DIR}/${part}_test.py
                                         --programs ${CMAKE_BINARY_DIR} --work ${CMAKE_BINARY_DIR}/translate-test)
    set_tests_properties(system_${part} PROPERTIES LABELS system TIMEOUT 900 FIXTURES_REQUIRED translate_model)
  endforeach()
endif()
