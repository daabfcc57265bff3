# Whole runs of nmt-prepro; the long one prepares 5 million pairs in bounded memory (3 GB of disk, some minutes).
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
add_test(NAME system_prepro COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/prepro_test.py $<TARGET_FILE:nmt-prepro>)
set_tests_properties(system_prepro PROPERTIES LABELS system TIMEOUT 600)
add_test(NAME long_prepro
         COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/prepro_test.py $<TARGET_FILE:nmt-prepro> LongMemory)
set_tests_properties(long_prepro PROPERTIES LABELS long TIMEOUT 7200)
