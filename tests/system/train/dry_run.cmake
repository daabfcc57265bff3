# nmt-train --dry-run on the built-in corpus.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
if(NMT_WITH_TORCH)
  add_test(NAME system_dry_run
           COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/dry_run.py $<TARGET_FILE:nmt-prepro>
                   $<TARGET_FILE:nmt-train> -v)
  set_tests_properties(system_dry_run PROPERTIES LABELS system TIMEOUT 120)
endif()
