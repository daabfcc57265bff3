# Programs for ARM64 under emulation beside this machine's; skipped (exit code 77) where scripts/cross_arm64.sh --all has
# made none.
if(NMT_WITH_TORCH)
  add_test(NAME long_translate_arm64
           COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/translate_arm64_test.py --programs ${CMAKE_BINARY_DIR}
                   --arm64 ${CMAKE_SOURCE_DIR}/build-arm64-all --work ${CMAKE_BINARY_DIR}/translate-test)
  set_tests_properties(long_translate_arm64 PROPERTIES LABELS long FIXTURES_REQUIRED translate_model SKIP_RETURN_CODE 77
                       TIMEOUT 3600)
endif()
