# Runs of nmt-train that are killed, stopped, damaged and out of disk, and must end in the weights of an unbroken one.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
if(NMT_WITH_TORCH)
  add_test(NAME system_train_kill
           COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/train_kill.py $<TARGET_FILE:nmt-prepro>
                   $<TARGET_FILE:nmt-train> -v)
  set_tests_properties(system_train_kill PROPERTIES LABELS system TIMEOUT 900)
endif()
