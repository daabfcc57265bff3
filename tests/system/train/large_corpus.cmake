# An epoch of a corpus of NMT_LARGE_CORPUS_PAIRS pairs (20 million, unless the environment says otherwise; 72 bytes of disk
# each, and as many while it is written), planned and streamed in less than 1 GB of anonymous memory.
add_executable(large_corpus ${CMAKE_CURRENT_LIST_DIR}/large_corpus.cpp)
target_link_libraries(large_corpus PRIVATE nmt_data)
add_test(NAME long_large_corpus COMMAND large_corpus ${CMAKE_BINARY_DIR})
set_tests_properties(long_large_corpus PROPERTIES LABELS long TIMEOUT 7200)
