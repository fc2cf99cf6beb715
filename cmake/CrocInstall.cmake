# make install PREFIX=: headers, and package files by which other projects find the libraries. The
# tree may be moved afterwards: the package files look for everything relative to themselves.
set(CMAKE_INSTALL_LIBDIR lib) # one layout everywhere: the launcher looks for ../lib
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

# The unversioned link goes along: rocprofiler-register opens librocprofiler-sdk.so by that name.
foreach(target croc_engine rocprofiler64 roctracer64 rocprofiler-sdk rocprofiler-register rocprofiler-sdk-rocattach rocprofiler-sdk-roctx roctx64
               hsa-amd-aqlprofile64 crocgpu_lib crocprof-tool)
  if(TARGET ${target})
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()
foreach(target roctracer_tool file_plugin perfetto_plugin)
  if(TARGET ${target})
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/roctracer)
  endif()
endforeach()
if(TARGET croc_metrics_xml)
  install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/rocprofiler/metrics.xml
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/rocprofiler)
endif()
foreach(target crocprof crocgpu)
  if(TARGET ${target})
    install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()

# croc_package(name VERSION x.y.z LIBRARY file TARGET imported_target [HEADERS probe])
#
# Installs name-config.cmake with one imported target, its version file, and name.pc.
function(croc_package name)
  cmake_parse_arguments(ARG "" "VERSION;LIBRARY;TARGET;DESCRIPTION" "" ${ARGN})
  set(package_name ${name})
  set(package_version ${ARG_VERSION})
  set(package_library ${ARG_LIBRARY})
  set(package_target ${ARG_TARGET})
  set(package_description ${ARG_DESCRIPTION})
  string(REGEX REPLACE "^lib(.*)\\.so.*$" "\\1" package_link ${ARG_LIBRARY})
  set(out ${CMAKE_BINARY_DIR}/package)
  set(destination ${CMAKE_INSTALL_LIBDIR}/cmake/${name})
  configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/package/config.cmake.in
    ${out}/${name}-config.cmake INSTALL_DESTINATION ${destination}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
  write_basic_package_version_file(${out}/${name}-config-version.cmake
    VERSION ${ARG_VERSION} COMPATIBILITY SameMajorVersion)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/package/package.pc.in ${out}/${name}.pc @ONLY)
  install(FILES ${out}/${name}-config.cmake ${out}/${name}-config-version.cmake
    DESTINATION ${destination})
  install(FILES ${out}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

croc_package(rocprofiler-sdk VERSION 1.0.0 LIBRARY librocprofiler-sdk.so.1
  TARGET rocprofiler-sdk::rocprofiler-sdk DESCRIPTION "GPU tracing and hardware counters")
croc_package(rocprofiler-sdk-roctx VERSION 1.0.0 LIBRARY librocprofiler-sdk-roctx.so.1
  TARGET rocprofiler-sdk-roctx::rocprofiler-sdk-roctx DESCRIPTION "Markers for GPU profilers")
croc_package(rocprofiler-register VERSION 0.5.0 LIBRARY librocprofiler-register.so.0
  TARGET rocprofiler-register::rocprofiler-register
  DESCRIPTION "Where ROCm's runtimes announce their API tables")
if(TARGET rocprofiler-sdk-rocattach)
  croc_package(rocprofiler-sdk-rocattach VERSION 1.0.0
    LIBRARY librocprofiler-sdk-rocattach.so.1
    TARGET rocprofiler-sdk-rocattach::rocprofiler-sdk-rocattach
    DESCRIPTION "Brings GPU profiling tools into running processes")
endif()
croc_package(rocprofiler VERSION 8.0.0 LIBRARY librocprofiler64.so.1
  TARGET rocprofiler::rocprofiler64 DESCRIPTION "GPU counters by contexts, pools and interception")
croc_package(roctx VERSION 4.1.0 LIBRARY libroctx64.so.4
  TARGET roctx::roctx DESCRIPTION "Markers for GPU profilers, version 4.1")
croc_package(roctracer VERSION 4.1.0 LIBRARY libroctracer64.so.4
  TARGET roctracer::roctracer64 DESCRIPTION "Callbacks and records of ROCm's runtimes")
