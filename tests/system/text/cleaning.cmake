# Whole runs of nmt-prepro --clean. The long one cleans 10 million pairs in bounded memory (2 GB of disk, some minutes).
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
add_test(NAME system_cleaning
         COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/cleaning_test.py $<TARGET_FILE:nmt-prepro>)
set_tests_properties(system_cleaning PROPERTIES LABELS system TIMEOUT 600)
add_test(NAME long_cleaning
         COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/cleaning_test.py $<TARGET_FILE:nmt-prepro> LongMemory)
set_tests_properties(long_cleaning PROPERTIES LABELS long TIMEOUT 3600)
