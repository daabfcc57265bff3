# nmt-train as several processes of mpirun: the bits of one, failures, signals.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
if(NMT_WITH_TORCH AND MPI_CXX_FOUND)
  foreach(part Bits Failures Kit Launcher)
    string(TOLOWER ${part} name)
    set(label system)
    if(part MATCHES "Kit|Launcher")
      set(label long)
    endif()
    add_test(NAME ${label}_processes_${name}
             COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/processes.py $<TARGET_FILE:nmt-prepro>
                     $<TARGET_FILE:nmt-train> -v ${part})
    set_tests_properties(${label}_processes_${name} PROPERTIES LABELS ${label} TIMEOUT 600)
  endforeach()
elseif(NMT_WITH_TORCH)
  message(STATUS "No MPI: the tests of several processes are left out")
endif()
