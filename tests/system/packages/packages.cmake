# What stands beside the programs: the front door, manual pages, completions, the image, the packages.
foreach(test front_door manual completion docker)
  add_test(NAME system_${test}
           COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/${test}_test.py --build ${CMAKE_BINARY_DIR})
  set_tests_properties(system_${test} PROPERTIES LABELS system TIMEOUT 120)
endforeach()

# The tar.gz's libraries, by a program of one line; and the packages themselves in a bare Debian, which takes minutes (and, the
# first time, a build).
add_test(NAME system_bundle
         COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/bundle_test.py --compiler ${CMAKE_CXX_COMPILER})
set_tests_properties(system_bundle PROPERTIES LABELS system TIMEOUT 120)
if(NMT_WITH_TORCH)
  set(module)
  if(NMT_BUILD_PYTHON)
    find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
    set(module --python ${Python_EXECUTABLE})
  endif()
  get_filename_component(torch "${Torch_DIR}/../../../lib" ABSOLUTE)
  add_test(NAME system_deb
           COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/deb_test.py --build ${CMAKE_BINARY_DIR} --cmake ${CMAKE_COMMAND}
                   --torch ${torch} ${module})
  set_tests_properties(system_deb PROPERTIES LABELS system TIMEOUT 300)
  add_test(NAME long_packages COMMAND ${CMAKE_CURRENT_LIST_DIR}/packages_test.sh ${CMAKE_BINARY_DIR}/bare-root
           WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(long_packages PROPERTIES LABELS long TIMEOUT 7200 SKIP_RETURN_CODE 77)
endif()
