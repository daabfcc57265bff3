# The site of the guides, built strictly. Its tools are those of scripts/site.sh: where they cannot be had it is skipped.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
add_test(NAME long_site COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/site_test.py -v)
set_tests_properties(long_site PROPERTIES LABELS long TIMEOUT 900 SKIP_RETURN_CODE 77 ENVIRONMENT "${NMT_TEST_ENVIRONMENT}")
