# Validation while training, nmt-eval and nmt-score (and sacreBLEU, where it is installed) print the same figures.
if(NMT_WITH_TORCH)
  add_test(NAME system_same_figures
           COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/same_figures_test.py --programs ${CMAKE_BINARY_DIR})
  set_tests_properties(system_same_figures PROPERTIES LABELS system TIMEOUT 600)
endif()
