# Packages (scripts/package.sh): NMT_PACKAGE=ON makes a build whose programs can be taken elsewhere.
#   bin/          the programs; their run path is $ORIGIN/../lib/nmt, in the build folder as where they are installed
#   lib/nmt/      links to LibTorch's libraries
# Paths of this machine are in no program (LibTorch's headers put them into error messages), and nmt-train is without MPI, whose
# plug-ins cannot be moved. Included in two places: before the targets, and nmt_packages() behind them.
#
# Components of cmake --install: programs (with manual pages and completions), documents, torch (LibTorch's CPU libraries and
# libnmt_torch.so) and what only a .deb has, debian-PACKAGE. A library, its headers and a Python module have theirs where they
# are built: library, development, python; each becomes a .deb of its own. What only a wheel has is in wheel.
option(NMT_PACKAGE "Build for packages: programs that can be taken to another place" OFF)
option(NMT_SHORT_PATHS "In a build for packages: no path of this machine in what includes LibTorch's headers" ON)
if(NMT_PACKAGE)
  set(NMT_WITH_MPI OFF CACHE BOOL "Training with several processes on CPUs, where MPI is found" FORCE)
  set(NMT_BUILD_TESTS OFF CACHE BOOL "Build the tests" FORCE)
  set(NMT_ZSH_FOLDER zsh/vendor-completions CACHE STRING "Where zsh looks for completions, below share" FORCE)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  set(CMAKE_INSTALL_PREFIX /usr CACHE PATH "" FORCE) # where a .deb puts it: libraries into the folder of the architecture
  set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib/nmt")
  # DT_RPATH, not DT_RUNPATH: it also counts for what the libraries beside LibTorch's need themselves.
  add_link_options(-Wl,--disable-new-dtags)
endif()

# nmt_install_what_is_built(): cmake --install of all components, where only the programs are built (scripts/quickstart.sh),
# installs these and says what else there is to build. Called before every other rule of the installation.
function(nmt_install_what_is_built)
  set(libraries "")
  if(NMT_WITH_LIBRARY)
    list(APPEND libraries "$<TARGET_FILE:nmt>")
    if(NMT_BUILD_PYTHON)
      list(APPEND libraries "$<TARGET_FILE:nmt_python>")
    endif()
  endif()
  install(CODE "
    if(NOT CMAKE_INSTALL_COMPONENT)
      if(NOT EXISTS \"$<TARGET_FILE:nmt_front_door>\" OR NOT EXISTS \"$<TARGET_FILE:nmt-prepro>\")
        message(FATAL_ERROR \"The programs are not built: cmake --build ${CMAKE_BINARY_DIR} --target programs\")
      endif()
      foreach(built ${libraries})
        if(NOT EXISTS \"\${built}\")
          message(STATUS \"Installing the programs alone; cmake --build ${CMAKE_BINARY_DIR} builds libraries, too (no \${built})\")
          set(CMAKE_INSTALL_COMPONENT programs)
        endif()
      endforeach()
    endif()")
endfunction()

# nmt_no_paths(TARGET): its objects know the source, the build folder and LibTorch's by short names. Objects without LibTorch's
# headers name no file anyway.
function(nmt_no_paths target)
  get_filename_component(torch "${Torch_DIR}/../../.." ABSOLUTE)
  target_compile_options(${target} PRIVATE -ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=build
                         -ffile-prefix-map=${torch}=torch)
endfunction()

# The CPU libraries of LibTorch that programs load. All others of its folder are for Python and for tests.
set(NMT_TORCH_LIBRARIES libtorch_cpu.so libc10.so libgomp.so.1)

function(nmt_packages)
  include(GNUInstallDirs)
  install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/NOTICE ${CMAKE_SOURCE_DIR}/packaging/nmt.service
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/nmt COMPONENT documents)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/nmt COMPONENT documents
          FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png")
  if(NOT NMT_PACKAGE OR NOT NMT_WITH_TORCH)
    return()
  endif()
  if(NMT_WITH_CUDA)
    message(FATAL_ERROR "NMT_PACKAGE: LibTorch in ${TORCH_LIBRARY} is for CUDA; packages are made of its CPU build")
  endif()
  get_filename_component(folder "${Torch_DIR}/../../../lib" ABSOLUTE)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/lib/nmt)
  foreach(library ${NMT_TORCH_LIBRARIES})
    file(CREATE_LINK ${folder}/${library} ${CMAKE_BINARY_DIR}/lib/nmt/${library} SYMBOLIC)
    install(FILES ${folder}/${library} DESTINATION lib/nmt COMPONENT torch
            PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  endforeach()
  file(GLOB licences ${folder}/../../torch-*.dist-info/licenses/LICENSE)
  if(NOT licences)
    file(GLOB licences ${folder}/../LICENSE)
  endif()
  install(FILES ${licences} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/nmt-libtorch RENAME LICENSE.LibTorch COMPONENT torch)
  nmt_debian_packages()
endfunction()

# nmt_debian_package(NAME COMPONENTS component... SUMMARY text TEXT text [DEPENDS text] [RECOMMENDS text] [CONTROL file...])
# CONTROL: what dpkg keeps of the package besides its files (postinst, shlibs, ...). For nmt_debian_packages() alone.
macro(nmt_debian_package name)
  cmake_parse_arguments(ARG "" "SUMMARY;TEXT;DEPENDS;RECOMMENDS" "COMPONENTS;CONTROL" ${ARGN})
  foreach(component ${ARG_COMPONENTS} debian-${name})
    list(APPEND CPACK_COMPONENTS_ALL ${component})
    string(TOUPPER ${component} upper)
    set(CPACK_COMPONENT_${upper}_GROUP ${name})
  endforeach()
  string(TOUPPER ${name} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_COMPONENT_GROUP_${upper}_DESCRIPTION "${ARG_SUMMARY}\n${ARG_TEXT}")
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${ARG_SUMMARY}\n${ARG_TEXT}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${ARG_DEPENDS}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS "${ARG_RECOMMENDS}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${ARG_CONTROL})
  install(FILES ${root}/packaging/debian/copyright ${root}/NOTICE ${folder}/changelog.Debian.gz
          DESTINATION share/doc/${name} COMPONENT debian-${name})
endmacro()

# What CPack's generator DEB is told. tests/system/packages/deb calls it, too.
function(nmt_debian_packages)
  set(root ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/..)
  set(folder ${CMAKE_BINARY_DIR}/debian)
  file(MAKE_DIRECTORY ${folder})
  # The unit of packaging/ is for /usr/local/bin.
  file(READ ${root}/packaging/nmt.service unit)
  string(REPLACE /usr/local/bin /usr/bin unit "${unit}")
  string(REPLACE "; docs/serving.md says how it is installed" ", as the Debian package installs it" unit "${unit}")
  file(WRITE ${folder}/nmt.service "${unit}")
  install(FILES ${folder}/nmt.service DESTINATION lib/systemd/system COMPONENT debian-nmt)
  install(DIRECTORY ${root}/docs DESTINATION share/doc/nmt COMPONENT debian-nmt
          FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png")
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  set(revision 1)
  set(version ${PROJECT_VERSION}-${revision})
  set(NMT_PACKAGE_CONTACT "nmt maintainers <nmt@example.org>" CACHE STRING "Maintainer named in the .debs: Name <address>")
  file(WRITE ${folder}/changelog.Debian
       "nmt (${version}) unstable; urgency=medium\n\n  * See CHANGELOG.md of the source.\n\n -- ${NMT_PACKAGE_CONTACT}  ${date}\n")
  execute_process(COMMAND gzip -9nkf ${folder}/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)

  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_NAME nmt)
  set(CPACK_PACKAGE_VENDOR nmt)
  set(CPACK_PACKAGE_CONTACT "${NMT_PACKAGE_CONTACT}")
  set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
  # CPack puts any other summary before that of each package.
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${CMAKE_PROJECT_NAME} built using CMake")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
      WORLD_EXECUTE)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_RELEASE ${revision})
  set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
  set(CPACK_DEBIAN_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib/nmt)
  set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

  nmt_debian_package(nmt COMPONENTS programs DEPENDS "nmt-libtorch (= ${version})"
    SUMMARY "neural machine translation"
    TEXT "Programs that prepare text, train translation models, translate lines\nand documents, serve translations over HTTP, and score them with BLEU,\nchrF and TER. The systemd unit nmt.service is not enabled: it asks for\n/etc/nmt/service.yaml.")
  nmt_debian_package(nmt-libtorch COMPONENTS torch
    SUMMARY "LibTorch ${Torch_VERSION} for the CPU, for nmt alone"
    TEXT "The libraries of PyTorch's build that nmt loads, and the part of nmt that\nloads them, in a folder of its own, /usr/lib/nmt, where no other program\nlooks for them.")
  get_cmake_property(components COMPONENTS)
  set(library_package libnmt${NMT_SOVERSION})
  if("library" IN_LIST components)
    # What dpkg-shlibdeps writes into packages of programs that link it.
    file(WRITE ${folder}/${library_package}/shlibs "libnmt ${NMT_SOVERSION} ${library_package} (>= ${PROJECT_VERSION})\n")
    nmt_debian_package(${library_package} COMPONENTS library DEPENDS "nmt-libtorch (= ${version})"
      CONTROL ${folder}/${library_package}/shlibs
      SUMMARY "neural machine translation, shared library"
      TEXT "libnmt: translation, scoring, tokenization and training from other\nprograms.")
  endif()
  if("development" IN_LIST components)
    nmt_debian_package(libnmt-dev COMPONENTS development DEPENDS "${library_package} (= ${version})"
      SUMMARY "neural machine translation, headers"
      TEXT "Headers of libnmt for C++ and C, with files for CMake and pkg-config.")
    set(CPACK_DEBIAN_LIBNMT-DEV_PACKAGE_SECTION libdevel)
  endif()
  if("python" IN_LIST components)
    nmt_debian_package(python3-nmt COMPONENTS python DEPENDS "nmt-libtorch (= ${version}), ${NMT_PYTHON_DEPENDS}"
      CONTROL ${root}/packaging/debian/python3-nmt/postinst ${root}/packaging/debian/python3-nmt/prerm
      SUMMARY "neural machine translation, module for Python"
      TEXT "The module nmt: translation, scoring and training from Python.")
    set(CPACK_DEBIAN_PYTHON3-NMT_PACKAGE_SECTION python)
  endif()
  include(CPack)
endfunction()
