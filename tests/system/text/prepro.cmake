# Whole runs of nmt-prepro. The long ones prepare 5 million pairs in bounded memory (3 GB of disk, some minutes), and find
# duplicates among NMT_PREPRO_PAIRS pairs (25 million, unless the environment says otherwise; 200 bytes of disk each).
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
add_test(NAME system_prepro COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/prepro_test.py $<TARGET_FILE:nmt-prepro>)
set_tests_properties(system_prepro PROPERTIES LABELS system TIMEOUT 600)
add_test(NAME long_prepro
         COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/prepro_test.py $<TARGET_FILE:nmt-prepro> LongMemory)
add_test(NAME long_prepro_duplicates
         COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/prepro_test.py $<TARGET_FILE:nmt-prepro> LongDuplicates)
set_tests_properties(long_prepro long_prepro_duplicates PROPERTIES LABELS long TIMEOUT 7200)
