# install.cmake - installs headers, libraries, echelon.pc for pkg-config, and echelon-config.cmake for
# find_package(echelon).  cli/ installs the command and its manual pages.
#
# No installed file contains the prefix, so that `cmake --install build --prefix X` works and the
# installed tree can be moved.

include(CMakePackageConfigHelpers)

set(libraries echelon)
if(ECHELON_BUILD_STATIC)
  list(APPEND libraries echelon_static)
endif()
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS ${libraries} EXPORT echelon-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

# OPTIONAL: `make install` does not build the SIMT emulator, `make check` does.
get_property(simt_modules GLOBAL PROPERTY ECHELON_SIMT_MODULES)
if(ECHELON_SIMT_FOUND) # opened at run time, from the directory of the library
  install(TARGETS echelon_simt LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
  install(TARGETS ${simt_modules} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/echelon OPTIONAL)
endif()

# ---- pkg-config ----

set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pc_to_prefix /prefix/${pc_dir} /prefix)
set(pc_private "")
foreach(name ${ECHELON_STATIC_LIBS})
  if(IS_ABSOLUTE ${name})
    string(APPEND pc_private " ${name}")
  else()
    string(APPEND pc_private " -l${name}")
  endif()
endforeach()
configure_file(cmake/echelon.pc.in echelon.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/echelon.pc DESTINATION ${pc_dir})

# ---- CMake package ----

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/echelon)
install(EXPORT echelon-targets NAMESPACE echelon:: DESTINATION ${package_dir})
install(FILES cmake/echelon-config.cmake DESTINATION ${package_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(echelon-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/echelon-config-version.cmake DESTINATION ${package_dir})
