# Package files by which other projects find an installed library: for CMake, for pkg-config, and
# the scripts that put it into an environment.
include(CMakePackageConfigHelpers)

# croc_package(name VERSION x.y.z LIBRARY file TARGET imported_target DESCRIPTION text
#              [ENVIRONMENT] [MINOR])
#
# ENVIRONMENT: share/name/setup-env.sh and a module file, which AMD's package of that name has, too.
# MINOR: clients who ask for another minor version are refused, as AMD's package does.
function(croc_package name)
  cmake_parse_arguments(ARG "ENVIRONMENT;MINOR" "VERSION;LIBRARY;TARGET;DESCRIPTION" "" ${ARGN})
  set(package_name ${name})
  set(package_version ${ARG_VERSION})
  set(package_library ${ARG_LIBRARY})
  set(package_target ${ARG_TARGET})
  set(package_description ${ARG_DESCRIPTION})
  set(compatibility SameMajorVersion)
  if(ARG_MINOR)
    set(compatibility SameMinorVersion)
  endif()
  string(REGEX REPLACE "^lib(.*)\\.so.*$" "\\1" package_link ${ARG_LIBRARY})
  set(in ${CMAKE_SOURCE_DIR}/cmake/package)
  set(out ${CMAKE_BINARY_DIR}/package)
  set(destination ${CMAKE_INSTALL_LIBDIR}/cmake/${name})
  configure_package_config_file(${in}/config.cmake.in ${out}/${name}-config.cmake
    INSTALL_DESTINATION ${destination} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
  write_basic_package_version_file(${out}/${name}-config-version.cmake
    VERSION ${ARG_VERSION} COMPATIBILITY ${compatibility})
  configure_file(${in}/package.pc.in ${out}/${name}.pc @ONLY)
  install(FILES ${out}/${name}-config.cmake ${out}/${name}-config-version.cmake
    DESTINATION ${destination})
  install(FILES ${out}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  if(EXISTS ${in}/${name}-extras.cmake)
    install(FILES ${in}/${name}-extras.cmake DESTINATION ${destination})
  endif()
  if(ARG_ENVIRONMENT)
    string(REPLACE "-" "_" package_underscored ${name})
    configure_file(${in}/setup-env.sh.in ${out}/${name}-setup-env.sh @ONLY)
    configure_file(${in}/modulefile.in ${out}/${name}-modulefile @ONLY)
    install(FILES ${out}/${name}-setup-env.sh
      DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/${name} RENAME setup-env.sh)
    install(FILES ${out}/${name}-modulefile
      DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/modulefiles/${name} RENAME ${ARG_VERSION})
  endif()
endfunction()
