# Whole runs of nmt-score beside sacreBLEU, and the fuzz target of the scorer. To be included by tests/system/CMakeLists.txt.

# With clang a libFuzzer target; elsewhere the same checks on made-up text from a seed.
add_executable(scoring_fuzz ${CMAKE_SOURCE_DIR}/tests/fuzz/scoring_fuzz.cpp)
target_link_libraries(scoring_fuzz PRIVATE nmt_scoring)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_definitions(scoring_fuzz PRIVATE NMT_WITH_LIBFUZZER)
  target_compile_options(scoring_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_options(scoring_fuzz PRIVATE -fsanitize=fuzzer)
  set(NMT_FUZZ_QUICK -max_total_time=5)
  set(NMT_FUZZ_LONG -max_total_time=60)
else()
  set(NMT_FUZZ_QUICK 5 1)
  set(NMT_FUZZ_LONG 60)
endif()
add_test(NAME system_scoring_fuzz COMMAND scoring_fuzz ${NMT_FUZZ_QUICK})
set_tests_properties(system_scoring_fuzz PROPERTIES LABELS system TIMEOUT 120)
add_test(NAME long_scoring_fuzz COMMAND scoring_fuzz ${NMT_FUZZ_LONG})
set_tests_properties(long_scoring_fuzz PROPERTIES LABELS long TIMEOUT 300)

# Command lines compared with the Python sacreBLEU; skipped (exit code 77) where that cannot be installed.
add_test(NAME system_scoring_compare
         COMMAND ${CMAKE_SOURCE_DIR}/tests/system/scoring_compare.sh $<TARGET_FILE:nmt-score> --quick)
set_tests_properties(system_scoring_compare PROPERTIES LABELS system SKIP_RETURN_CODE 77 TIMEOUT 900)
add_test(NAME long_scoring_compare
         COMMAND ${CMAKE_SOURCE_DIR}/tests/system/scoring_compare.sh $<TARGET_FILE:nmt-score>)
set_tests_properties(long_scoring_compare PROPERTIES LABELS long SKIP_RETURN_CODE 77 TIMEOUT 7200)
