# Whole runs of nmt-score beside sacreBLEU, and the fuzz target of the scorer. To be included by tests/system/CMakeLists.txt.

nmt_fuzz_test(scoring_fuzz LINK nmt_scoring)

# Command lines compared with the Python sacreBLEU; skipped (exit code 77) where that cannot be installed.
add_test(NAME system_scoring_compare
         COMMAND ${CMAKE_SOURCE_DIR}/tests/system/compare.sh text/scoring_compare.py --nmt-score $<TARGET_FILE:nmt-score> --quick)
set_tests_properties(system_scoring_compare PROPERTIES LABELS system SKIP_RETURN_CODE 77 TIMEOUT 900)
add_test(NAME long_scoring_compare
         COMMAND ${CMAKE_SOURCE_DIR}/tests/system/compare.sh text/scoring_compare.py --nmt-score $<TARGET_FILE:nmt-score>)
set_tests_properties(long_scoring_compare PROPERTIES LABELS long SKIP_RETURN_CODE 77 TIMEOUT 7200)
