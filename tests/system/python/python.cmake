# The Python package as the build folder has it, with the model of tests/system/translate. The Python is the one that the
# extension was built for, scripts/dev_python.sh's in scripts/test.sh: it has sacreBLEU, mypy and what the notebook needs.
if(NMT_BUILD_PYTHON AND NMT_WITH_LIBRARY)
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
  function(nmt_python_test name script label)
    add_test(NAME ${name} COMMAND ${Python_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/${script}.py
             --programs ${CMAKE_BINARY_DIR} --work ${CMAKE_BINARY_DIR}/translate-test)
    set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 300 FIXTURES_REQUIRED translate_model
                         ENVIRONMENT "PYTHONPATH=${CMAKE_BINARY_DIR}/python")
  endfunction()
  nmt_python_test(system_python_translate translate_test system)
  nmt_python_test(system_python_score score_test system)
  nmt_python_test(system_python_train train_test system)
  nmt_python_test(system_python_import import_test system)
  nmt_python_test(system_python_without_libtorch without_libtorch_test system)
  nmt_python_test(system_python_package package_test system)
  nmt_python_test(system_python_guide guide_test system)
endif()
