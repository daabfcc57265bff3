# Bad input and bad configuration of nmt-prepro, nmt-train, nmt-eval and nmt-translate, table-driven.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
add_test(NAME system_config_errors
         COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/config_errors.py -v)
set_tests_properties(system_config_errors PROPERTIES LABELS system TIMEOUT 900
                     ENVIRONMENT "NMT_PROGRAMS=$<TARGET_FILE_DIR:nmt-prepro>")
