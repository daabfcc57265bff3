# libnmt.so, the library to link (interfaces/library; docs/library.md), of the objects of which the programs are made, and what
# find_package(nmt) and pkg-config need. Its version is that of its interface: as long as that is 0.x, each minor version may
# change it, so the name that the dynamic linker looks for holds both numbers.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(NMT_SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

set(NMT_API_HEADERS ${CMAKE_SOURCE_DIR}/interfaces/library/include)
set(NMT_API_MADE_HEADERS ${CMAKE_BINARY_DIR}/api/include)
configure_file(${NMT_API_HEADERS}/nmt/version.h.in ${NMT_API_MADE_HEADERS}/nmt/version.h @ONLY)
target_include_directories(nmt_library PUBLIC ${NMT_API_HEADERS} ${NMT_API_MADE_HEADERS})
target_include_directories(nmt_library_training PUBLIC ${NMT_API_HEADERS} ${NMT_API_MADE_HEADERS})
foreach(part nmt_library nmt_library_training)
  target_compile_definitions(${part} PRIVATE NMT_INSIDE NMT_SENTENCEPIECE_VERSION="${NMT_SENTENCEPIECE_VERSION}"
                                             NMT_TORCH_VERSION="${Torch_VERSION}")
endforeach()

set(exports ${CMAKE_BINARY_DIR}/api/exports.map)
configure_file(${CMAKE_SOURCE_DIR}/cmake/library/exports.map.in ${exports} @ONLY)
add_library(nmt SHARED $<TARGET_OBJECTS:nmt_library>)
add_library(nmt::nmt ALIAS nmt)
set_target_properties(nmt PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${NMT_SOVERSION} LINKER_LANGUAGE CXX
                                     LINK_DEPENDS ${exports})
target_include_directories(nmt INTERFACE ${NMT_API_HEADERS} ${NMT_API_MADE_HEADERS})
target_compile_features(nmt INTERFACE cxx_std_17)
# Never unloaded: threads of a search outlive every call.
target_link_options(nmt PRIVATE -Wl,--version-script=${exports} -Wl,-z,defs -Wl,-z,nodelete -Wl,--exclude-libs,ALL
                                -Wl,--as-needed)
target_link_libraries(nmt PRIVATE nmt_compat nmt_data nmt_server_models)
nmt_find_torch_library(nmt ${CMAKE_INSTALL_LIBDIR})

install(TARGETS nmt LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(DIRECTORY ${NMT_API_HEADERS}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/nmt COMPONENT development)
install(FILES ${NMT_API_MADE_HEADERS}/nmt/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/nmt COMPONENT development)

# Where the files for CMake and pkg-config stand, as they find the prefix from there: it may be moved.
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/nmt)
set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH NMT_CONFIG_TO_PREFIX /prefix/${config_folder} /prefix)
file(RELATIVE_PATH NMT_PKGCONFIG_TO_PREFIX /prefix/${pkgconfig_folder} /prefix)
configure_file(${CMAKE_SOURCE_DIR}/cmake/library/nmtConfig.cmake.in ${CMAKE_BINARY_DIR}/api/nmtConfig.cmake @ONLY)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/api/nmtConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_file(${CMAKE_SOURCE_DIR}/cmake/library/nmt.pc.in ${CMAKE_BINARY_DIR}/api/nmt.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/api/nmtConfig.cmake ${CMAKE_BINARY_DIR}/api/nmtConfigVersion.cmake
        DESTINATION ${config_folder} COMPONENT development)
install(FILES ${CMAKE_BINARY_DIR}/api/nmt.pc DESTINATION ${pkgconfig_folder} COMPONENT development)
