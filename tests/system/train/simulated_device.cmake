# The programs on the simulated device of tests/simulated_device.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
if(NMT_WITH_TORCH AND NMT_SIMULATED_DEVICE)
  add_test(NAME system_simulated_device
           COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/simulated_device_test.py
                   --programs ${CMAKE_BINARY_DIR} --device $<TARGET_FILE:simulated_device>)
  set_tests_properties(system_simulated_device PROPERTIES LABELS system TIMEOUT 900)
endif()
