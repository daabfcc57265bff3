# nmt_manual_pages(): manual pages and completions, of what the programs themselves say of their options.
#   build/manual/man, bash, zsh, fish; installed below share. Target: manual_pages.
set(NMT_ZSH_FOLDER zsh/site-functions CACHE STRING "Where zsh looks for completions, below share (Debian: zsh/vendor-completions)")
function(nmt_manual_pages)
  get_property(programs GLOBAL PROPERTY NMT_PROGRAMS)
  list(REMOVE_ITEM programs nmt_front_door) # its page and its completion are those of the others
  add_executable(make_manual ${CMAKE_SOURCE_DIR}/apps/manual/make_manual.cpp)
  target_link_libraries(make_manual PRIVATE nmt_manual)
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
                     COMMAND make_manual ${PROJECT_VERSION} ${date} ${folder} ${descriptions}
                     COMMAND ${CMAKE_COMMAND} -E touch ${folder}/made
                     DEPENDS make_manual ${descriptions} VERBATIM)
  add_custom_target(manual_pages ALL DEPENDS ${folder}/made)

  include(GNUInstallDirs)
  install(DIRECTORY ${folder}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT programs)
  install(DIRECTORY ${folder}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT programs)
  install(DIRECTORY ${folder}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/${NMT_ZSH_FOLDER} COMPONENT programs)
  install(DIRECTORY ${folder}/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT programs)
endfunction()
