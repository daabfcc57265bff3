# Moses tokens of nmt-prepro compared with the Python sacremoses, line for line; skipped (exit code 77) where that cannot be
# installed. The long one takes every character of Unicode too.
add_test(NAME system_moses_compare
         COMMAND ${CMAKE_SOURCE_DIR}/tests/system/compare.sh text/moses_compare.py --nmt-prepro $<TARGET_FILE:nmt-prepro>)
set_tests_properties(system_moses_compare PROPERTIES LABELS system SKIP_RETURN_CODE 77 TIMEOUT 900)
add_test(NAME long_moses_compare
         COMMAND ${CMAKE_SOURCE_DIR}/tests/system/compare.sh text/moses_compare.py --nmt-prepro $<TARGET_FILE:nmt-prepro> --characters)
set_tests_properties(long_moses_compare PROPERTIES LABELS long SKIP_RETURN_CODE 77 TIMEOUT 7200)
