# make install PREFIX=: a tree laid out like a ROCm prefix (bin, include, lib, libexec, share,
# .info/version). It may be moved afterwards: its files look for everything relative to themselves.
set(CMAKE_INSTALL_LIBDIR lib) # one layout everywhere: the launcher looks for ../lib
set(CMAKE_INSTALL_LIBEXECDIR libexec)
include(GNUInstallDirs)
include(CrocPackage)

# First: a prefix that CMake itself takes for several, or for another one, would be half installed.
install(CODE [[
  if(CMAKE_INSTALL_PREFIX MATCHES "[;\\]")
    message(FATAL_ERROR "Crocprof cannot be installed in '${CMAKE_INSTALL_PREFIX}': no ; and no \\ in a prefix")
  endif()
]])

# The ROCm release whose profiling interfaces these are.
set(CROC_ROCM_VERSION 7.0.0)

install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
set(CROC_DOC ${CMAKE_INSTALL_DATAROOTDIR}/doc/crocprof) # as in the tree, so that links hold
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/CHANGELOG.md
  ${CMAKE_SOURCE_DIR}/CONTRIBUTING.md DESTINATION ${CROC_DOC})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs DESTINATION ${CROC_DOC} FILES_MATCHING PATTERN "*.md")
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples DESTINATION ${CROC_DOC}
  FILES_MATCHING PATTERN "*.md" PATTERN "*.c" PATTERN "*.cpp" PATTERN "*.h")

# The unversioned link goes along: rocprofiler-register opens librocprofiler-sdk.so by that name.
foreach(target croc_engine rocprofiler64 roctracer64 rocprofiler-sdk rocprofiler-register
    rocprofiler-sdk-rocattach rocprofiler-sdk-rocpd rocprofiler-sdk-roctx roctx64 hsa-amd-aqlprofile64 crocgpu_lib
    crocprof-tool)
  if(TARGET ${target})
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/src/api/roctx/python/roctx
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/python3/site-packages FILES_MATCHING PATTERN "*.py")
foreach(target roctracer_tool file_plugin perfetto_plugin)
  if(TARGET ${target})
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/roctracer)
  endif()
endforeach()
if(TARGET croc_metrics_xml)
  install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/rocprofiler/metrics.xml
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/rocprofiler)
endif()
install(DIRECTORY ${CMAKE_BINARY_DIR}/share/rocprofiler-sdk-rocpd
  DESTINATION ${CMAKE_INSTALL_DATAROOTDIR} FILES_MATCHING PATTERN "*.sql")
foreach(target crocprof crocgpu)
  if(TARGET ${target})
    install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(FILES ${CMAKE_BINARY_DIR}/man/${target}.1
      DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/man/man1)
  endif()
endforeach()
if(TARGET crocprof)
  set(croc_shells ${CMAKE_BINARY_DIR}/completion)
  install(FILES ${croc_shells}/crocprof.bash RENAME crocprof
    DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions)
  install(FILES ${croc_shells}/bash/rocprofv3
    DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions)
  install(FILES ${croc_shells}/_crocprof DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/zsh/site-functions)
  install(FILES ${croc_shells}/crocprof.fish ${croc_shells}/fish/rocprofv3.fish
    DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/fish/vendor_completions.d)
  install(FILES ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/rocprofv3
    ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/rocprofv3-avail
    DESTINATION ${CMAKE_INSTALL_BINDIR})
  foreach(name rocpd rocpd2csv rocpd2otf2 rocpd2pftrace rocpd2summary)
    install(FILES ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name} DESTINATION ${CMAKE_INSTALL_BINDIR})
  endforeach()
  install(FILES ${CMAKE_BINARY_DIR}/man/rocpd.1 ${CMAKE_BINARY_DIR}/man/rocprofv3-avail.1
    DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/man/man1)
  install(TARGETS rocprofv3-list-avail rocprofiler-sdk-tool-kokkosp LIBRARY
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/rocprofiler-sdk)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/tool/avail/python/rocprofv3
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/python3/site-packages FILES_MATCHING PATTERN "*.py")
  install(PROGRAMS ${CMAKE_SOURCE_DIR}/tool/convert/convert-counters-collection-format.py
    DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/rocprofiler-sdk)
  install(FILES ${CMAKE_BINARY_DIR}/libexec/rocprofiler-sdk/librocprofv3-list-avail.so
    DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/rocprofiler-sdk)
  install(FILES ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/rocprofv3_avail_module/avail.py
    DESTINATION ${CMAKE_INSTALL_BINDIR}/rocprofv3_avail_module)
  install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/rocprofiler-sdk/librocprofiler-sdk-tool.so
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/rocprofiler-sdk)
endif()
install(PROGRAMS ${CMAKE_SOURCE_DIR}/cmake/package/launch-compiler.sh
  DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/rocprofiler-sdk RENAME rocprofiler-sdk-launch-compiler)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/cmake/package/Modules
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/rocprofiler-sdk FILES_MATCHING PATTERN "*.cmake")

croc_package(rocprofiler-sdk VERSION 1.0.0 LIBRARY librocprofiler-sdk.so.1 ENVIRONMENT MINOR
  TARGET rocprofiler-sdk::rocprofiler-sdk-shared-library
  DESCRIPTION "GPU tracing and hardware counters")
croc_package(rocprofiler-sdk-roctx VERSION 1.0.0 LIBRARY librocprofiler-sdk-roctx.so.1
  ENVIRONMENT MINOR TARGET rocprofiler-sdk-roctx::rocprofiler-sdk-roctx-shared-library
  DESCRIPTION "Markers for GPU profilers")
croc_package(rocprofiler-register VERSION 0.5.0 LIBRARY librocprofiler-register.so.0
  ENVIRONMENT MINOR TARGET rocprofiler-register::rocprofiler-register
  DESCRIPTION "Where ROCm's runtimes announce their API tables")
if(TARGET rocprofiler-sdk-rocattach)
  croc_package(rocprofiler-sdk-rocattach VERSION 1.0.0 MINOR
    LIBRARY librocprofiler-sdk-rocattach.so.1
    TARGET rocprofiler-sdk-rocattach::rocprofiler-sdk-rocattach-shared-library
    DESCRIPTION "Brings GPU profiling tools into running processes")
endif()
croc_package(rocprofiler-sdk-rocpd VERSION 1.0.0 LIBRARY librocprofiler-sdk-rocpd.so.1
  ENVIRONMENT MINOR TARGET rocprofiler-sdk-rocpd::rocprofiler-sdk-rocpd-shared-library
  DESCRIPTION "The schema of databases that GPU profilers write")
croc_package(rocprofiler VERSION 8.0.0 LIBRARY librocprofiler64.so.1
  TARGET rocprofiler::rocprofiler64 DESCRIPTION "GPU counters by contexts, pools and interception")
croc_package(roctx VERSION 4.1.0 LIBRARY libroctx64.so.4
  TARGET roctx::roctx DESCRIPTION "Markers for GPU profilers, version 4.1")
croc_package(roctracer VERSION 4.1.0 LIBRARY libroctracer64.so.4
  TARGET roctracer::roctracer64 DESCRIPTION "Callbacks and records of ROCm's runtimes")
croc_package(hsa-amd-aqlprofile64 VERSION 1.0.0 LIBRARY libhsa-amd-aqlprofile64.so.1
  TARGET hsa-amd-aqlprofile64::hsa-amd-aqlprofile64
  DESCRIPTION "Command buffers that read GPU counters")

# Last: what was installed is written down in the tree itself, for make uninstall.
install(CODE "set(croc_rocm_version ${CROC_ROCM_VERSION})")
install(SCRIPT ${CMAKE_SOURCE_DIR}/cmake/prefix.cmake)
