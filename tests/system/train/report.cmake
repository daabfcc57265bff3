# report.html of a small run, looked at in headless Chromium where there is one.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
if(NMT_WITH_TORCH)
  add_test(NAME system_report
           COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/report_test.py
                   --programs ${CMAKE_BINARY_DIR} --work ${CMAKE_BINARY_DIR}/report-test)
  set_tests_properties(system_report PROPERTIES LABELS system TIMEOUT 900)
endif()
