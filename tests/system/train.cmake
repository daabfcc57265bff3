# Runs of nmt-train that are killed, stopped, damaged and out of disk, and must end in the weights of an unbroken one; and one
# that is very long.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
if(NMT_WITH_TORCH)
  foreach(test system_train_kill long_train_soak)
    string(REGEX MATCH "^[a-z]+" label ${test})
    string(REGEX REPLACE "^[a-z]+_" "" script ${test})
    add_test(NAME ${test}
             COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/${script}.py $<TARGET_FILE:nmt-prepro>
                     $<TARGET_FILE:nmt-train> -v)
    set_tests_properties(${test} PROPERTIES LABELS ${label} TIMEOUT 1800)
  endforeach()
endif()
