# nmt-export beside Hugging Face transformers and CTranslate2; skipped (exit code 77) where those are not installed
# (scripts/interop_python.sh), but for system_export, system_adapter and
# system_vocabulary_map. The models that leave are trained for it on the
# built-in corpus, once for all.
if(NMT_WITH_TORCH AND NMT_WITH_CONVERT)
  function(nmt_convert_test name label script)
    add_test(NAME ${name}
             COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_LIST_DIR}/${script} --programs ${CMAKE_BINARY_DIR}
                     --work ${CMAKE_BINARY_DIR}/interop-test ${ARGN})
    set_tests_properties(${name} PROPERTIES LABELS ${label} SKIP_RETURN_CODE 77 TIMEOUT 1800 RESOURCE_LOCK interop)
  endfunction()
  nmt_convert_test(system_ctranslate2 system ctranslate2_test.py CTranslate2)
  nmt_convert_test(system_export system export_test.py)
  nmt_convert_test(system_adapter system adapter_test.py)
  nmt_convert_test(system_vocabulary_map system vocabulary_map_test.py)
  nmt_convert_test(system_marian system marian_test.py Import Export)
  nmt_convert_test(system_adapt system adapt_test.py)
  nmt_convert_test(system_marian_npz system marian_npz_test.py)
  nmt_convert_test(system_marian_damage system marian_damage_test.py)
  nmt_convert_test(system_t5 system t5_test.py)
  nmt_convert_test(system_m2m system m2m_test.py)
  nmt_convert_test(long_marian long marian_test.py LongImport)
  nmt_convert_test(long_ctranslate2 long ctranslate2_test.py Multi30k)
endif()
