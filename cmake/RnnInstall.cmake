# cmake --install: the component `runtime` (library, headers, CMake and pkg-config files), which needs no
# LLVM, and the component `compiler` (rnnc).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(RNN_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/rnn)

# The runtime in one library that shows its C interface and nothing else.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/rnn.map CONTENT "{ global: rnn_*; local: *; };\n")
add_library(rnn_shared SHARED $<TARGET_OBJECTS:rnn_runtime>)
add_library(rnn::runtime ALIAS rnn_shared)
set_target_properties(rnn_shared PROPERTIES OUTPUT_NAME rnn EXPORT_NAME runtime LINKER_LANGUAGE CXX
                      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                      LINK_DEPENDS ${CMAKE_BINARY_DIR}/rnn.map)
target_link_libraries(rnn_shared PRIVATE $<TARGET_PROPERTY:rnn_runtime,LINK_LIBRARIES>)
target_link_options(rnn_shared PRIVATE LINKER:--version-script=${CMAKE_BINARY_DIR}/rnn.map LINKER:--no-undefined)
target_include_directories(rnn_shared INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

install(TARGETS rnn_shared EXPORT rnnTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/rnn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT runtime)
install(EXPORT rnnTargets NAMESPACE rnn:: DESTINATION ${RNN_PACKAGE_DIR} COMPONENT runtime)
configure_package_config_file(cmake/package/rnnConfig.cmake.in ${CMAKE_BINARY_DIR}/package/rnnConfig.cmake
  INSTALL_DESTINATION ${RNN_PACKAGE_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/rnnConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
# The prefix may be another one when it is installed, or moved later.
file(RELATIVE_PATH RNN_INCLUDE_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /${CMAKE_INSTALL_INCLUDEDIR})
configure_file(cmake/package/rnn.pc.in ${CMAKE_BINARY_DIR}/package/rnn.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/package/rnnConfig.cmake ${CMAKE_BINARY_DIR}/package/rnnConfigVersion.cmake
  cmake/package/RnnAddLibrary.cmake DESTINATION ${RNN_PACKAGE_DIR} COMPONENT runtime)
install(FILES ${CMAKE_BINARY_DIR}/package/rnn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT runtime)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

if(RNN_BUILD_COMPILER)
  add_executable(rnn::rnnc ALIAS rnnc)
  # Debian keeps LLVM's libraries in a folder of their own.
  set_target_properties(rnnc PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS rnnc EXPORT rnnCompilerTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
  install(EXPORT rnnCompilerTargets NAMESPACE rnn:: DESTINATION ${RNN_PACKAGE_DIR} COMPONENT compiler)
endif()
