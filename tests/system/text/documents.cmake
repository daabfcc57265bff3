# Documents before and after a translation, as Python's readers of HTML, XML and zip see them.
if(NOT NMT_WITH_DOCUMENTS)
  return()
endif()
add_executable(document_tool ${CMAKE_CURRENT_LIST_DIR}/document_tool.cpp)
target_include_directories(document_tool PRIVATE ${CMAKE_SOURCE_DIR}/tests ${CMAKE_SOURCE_DIR}/tests/interfaces)
target_link_libraries(document_tool PRIVATE nmt_documents)
add_test(NAME system_document_compare
         COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_LIST_DIR}/document_compare.py --tool $<TARGET_FILE:document_tool>)
set_tests_properties(system_document_compare PROPERTIES LABELS system TIMEOUT 300)
