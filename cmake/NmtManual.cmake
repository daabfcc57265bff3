# nmt_manual_pages(): manual pages and completions, made by packaging/manual of what the programs themselves say of their
# options; none where the machine has no Python.
#   build/manual/man, bash, zsh, fish; installed below share. Target: manual_pages.
set(NMT_ZSH_FOLDER zsh/site-functions CACHE STRING "Where zsh looks for completions, below share (Debian: zsh/vendor-completions)")
function(nmt_manual_pages)
  get_property(programs GLOBAL PROPERTY NMT_PROGRAMS)
  list(REMOVE_ITEM programs nmt_front_door) # its page and its completion are those of the others
  find_package(Python3 COMPONENTS Interpreter)
  if(NOT Python3_FOUND)
    message(STATUS "No Python: built without manual pages and completions")
    return()
  endif()
  set(maker ${CMAKE_SOURCE_DIR}/packaging/manual)
  file(GLOB makers CONFIGURE_DEPENDS ${maker}/*)
  set(folder ${CMAKE_BINARY_DIR}/manual)
  file(MAKE_DIRECTORY ${folder})
  foreach(program ${programs})
    set(description ${folder}/${program}.json)
    add_custom_command(OUTPUT ${description} COMMAND ${program} --describe-options > ${description} DEPENDS ${program} VERBATIM)
    list(APPEND descriptions ${description})
  endforeach()
  # The date in the pages' feet. It honours SOURCE_DATE_EPOCH, as of when CMake ran.
  string(TIMESTAMP date "%Y-%m-%d" UTC)
  add_custom_command(OUTPUT ${folder}/made
                     COMMAND Python3::Interpreter -B ${maker}/make_manual.py ${PROJECT_VERSION} ${date} ${folder} ${descriptions}
                     COMMAND ${CMAKE_COMMAND} -E touch ${folder}/made
                     DEPENDS ${makers} ${descriptions} VERBATIM)
  add_custom_target(manual_pages ALL DEPENDS ${folder}/made)
  add_dependencies(programs manual_pages)

  include(GNUInstallDirs)
  install(DIRECTORY ${folder}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT programs)
  install(DIRECTORY ${folder}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT programs)
  install(DIRECTORY ${folder}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/${NMT_ZSH_FOLDER} COMPONENT programs)
  install(DIRECTORY ${folder}/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT programs)
endfunction()
