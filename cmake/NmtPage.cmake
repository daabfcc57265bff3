# nmt_embed_text(NAME FILE FUNCTION HEADER): builds the text of FILE, a path from the root, into the library nmt_NAME, as what the
# function `const std::string& FUNCTION()` of HEADER returns.
function(nmt_embed_text name EMBEDDED_FILE EMBEDDED_FUNCTION header)
  set(EMBEDDED_HEADER ${header})
  set(made ${CMAKE_BINARY_DIR}/${name}/${EMBEDDED_FUNCTION}.cpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${EMBEDDED_FILE})
  file(READ ${CMAKE_SOURCE_DIR}/${EMBEDDED_FILE} EMBEDDED_TEXT)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/embedded_text.cpp.in ${made} @ONLY)
  target_sources(nmt_${name} PRIVATE ${made})
endfunction()

# nmt_embed_folder(NAME FOLDER FUNCTION HEADER): the same for all files of FOLDER but C++, as what
# `const std::vector<EmbeddedText>& FUNCTION()` returns.
function(nmt_embed_folder name EMBEDDED_FOLDER EMBEDDED_FUNCTION header)
  set(EMBEDDED_HEADER ${header})
  set(EMBEDDED_ENTRIES "")
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${EMBEDDED_FOLDER}/*)
  list(FILTER files EXCLUDE REGEX "\\.(cpp|h)$")
  foreach(file ${files})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(file_name ${file} NAME)
    file(READ ${file} text)
    string(APPEND EMBEDDED_ENTRIES "      {\"${file_name}\", R\"embedded(${text})embedded\"},\n")
  endforeach()
  set(made ${CMAKE_BINARY_DIR}/${name}/${EMBEDDED_FUNCTION}.cpp)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/embedded_texts.cpp.in ${made} @ONLY)
  target_sources(nmt_${name} PRIVATE ${made})
endfunction()

# nmt_embed_bytes(NAME FILE FUNCTION HEADER): the same of a file that is no text, as what `std::string_view FUNCTION()` returns.
function(nmt_embed_bytes name EMBEDDED_FILE EMBEDDED_FUNCTION header)
  set(EMBEDDED_HEADER ${header})
  set(made ${CMAKE_BINARY_DIR}/${name}/${EMBEDDED_FUNCTION}.cpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${EMBEDDED_FILE})
  file(READ ${CMAKE_SOURCE_DIR}/${EMBEDDED_FILE} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," EMBEDDED_BYTES "${hex}")
  configure_file(${CMAKE_SOURCE_DIR}/cmake/embedded_bytes.cpp.in ${made} @ONLY)
  target_sources(nmt_${name} PRIVATE ${made})
endfunction()
