# Some targets need another compiler than CMAKE_CXX_COMPILER, mostly one that offloads OpenMP.

set(_rocprofiler_sdk_launcher
  "${rocprofiler-sdk_ROOT_DIR}/libexec/rocprofiler-sdk/rocprofiler-sdk-launch-compiler")

# A compiler by its name, its path, or, without either, the one that usually offloads.
function(_rocprofiler_sdk_find_compiler result wanted)
  if(wanted MATCHES "NOTFOUND$")
    set(wanted "")
  endif()
  if(wanted AND EXISTS "${wanted}")
    get_filename_component(path "${wanted}" ABSOLUTE)
    set(${result} "${path}" PARENT_SCOPE)
    return()
  endif()
  set(names "${wanted}")
  if(NOT wanted)
    set(names amdclang++)
  endif()
  string(MAKE_C_IDENTIFIER "ROCPROFILER_SDK_COMPILER_${names}" cached)
  find_program(${cached} NAMES ${names} HINTS ${ROCM_PATH} ENV ROCM_PATH PATHS /opt/rocm
    PATH_SUFFIXES bin llvm/bin)
  mark_as_advanced(${cached})
  set(${result} "${${cached}}" PARENT_SCOPE)
endfunction()

# Tests of a target that nobody can build here are disabled, not failed. Runs when the folder has
# been read to its end, after its tests were made.
function(_rocprofiler_sdk_disable_tests target)
  get_property(tests DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" PROPERTY TESTS)
  foreach(test IN LISTS tests)
    string(FIND "${test}" "${target}" at)
    if(NOT at EQUAL -1)
      set_tests_properties(${test} PROPERTIES DISABLED TRUE)
    endif()
  endforeach()
endfunction()

function(_rocprofiler_sdk_leave_out target)
  message(WARNING "no compiler that offloads OpenMP (amdclang++) was found or named: "
    "${target} is not built and its tests are disabled")
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  if(NOT CMAKE_VERSION VERSION_LESS 3.19)
    cmake_language(EVAL CODE
      "cmake_language(DEFER CALL _rocprofiler_sdk_disable_tests [[${target}]])")
  else()
    _rocprofiler_sdk_disable_tests(${target})
    set_property(DIRECTORY APPEND PROPERTY _rocprofiler_sdk_left_out ${target})
  endif()
endfunction()

# Before 3.19 nothing runs at the end of a folder: tests are looked at when they are made. A project
# that has an add_test of its own is left alone.
if(CMAKE_VERSION VERSION_LESS 3.19 AND NOT COMMAND _add_test)
  function(add_test)
    set(words "")
    foreach(i RANGE 1 ${ARGC})
      math(EXPR at "${i} - 1")
      string(REPLACE ";" "\\;" word "${ARGV${at}}")
      list(APPEND words "${word}")
    endforeach()
    _add_test(${words})
    get_property(targets DIRECTORY PROPERTY _rocprofiler_sdk_left_out)
    foreach(target IN LISTS targets)
      _rocprofiler_sdk_disable_tests(${target})
    endforeach()
  endfunction()
endif()

# rocprofiler_sdk_custom_compilation(COMPILER path [GLOBAL] [PROJECT] [TARGET ...] [SOURCE ...]
#                                    [DIRECTORY ...])
#
# Compiles and links everything, a project, targets, sources or folders with COMPILER.
function(rocprofiler_sdk_custom_compilation)
  cmake_parse_arguments(ARG "GLOBAL;PROJECT" "COMPILER" "DIRECTORY;TARGET;SOURCE" ${ARGN})
  _rocprofiler_sdk_find_compiler(compiler "${ARG_COMPILER}")
  if(NOT compiler)
    if(NOT ARG_TARGET OR ARG_GLOBAL OR ARG_PROJECT OR ARG_DIRECTORY OR ARG_SOURCE)
      message(FATAL_ERROR "rocprofiler_sdk_custom_compilation: no compiler '${ARG_COMPILER}'")
    endif()
    foreach(target IN LISTS ARG_TARGET)
      _rocprofiler_sdk_leave_out(${target})
    endforeach()
    return()
  endif()
  find_program(ROCPROFILER_SDK_COMPILE_LAUNCHER NAMES rocprofiler-sdk-launch-compiler
    HINTS "${rocprofiler-sdk_ROOT_DIR}" PATH_SUFFIXES libexec/rocprofiler-sdk)
  mark_as_advanced(ROCPROFILER_SDK_COMPILE_LAUNCHER)
  if(NOT ROCPROFILER_SDK_COMPILE_LAUNCHER)
    message(FATAL_ERROR "${_rocprofiler_sdk_launcher} is not installed; "
      "ROCPROFILER_SDK_COMPILE_LAUNCHER can name another one")
  endif()
  if(ARG_PROJECT)
    list(APPEND ARG_DIRECTORY "${PROJECT_SOURCE_DIR}")
  endif()
  # Put before the rule's own words as it is: a shell reads it, and paths may have spaces.
  set(launch "\"${ROCPROFILER_SDK_COMPILE_LAUNCHER}\" \"${compiler}\" \"${CMAKE_CXX_COMPILER}\"")
  foreach(rule RULE_LAUNCH_COMPILE RULE_LAUNCH_LINK)
    if(ARG_GLOBAL)
      set_property(GLOBAL PROPERTY ${rule} "${launch}")
      continue()
    endif()
    foreach(kind DIRECTORY TARGET SOURCE)
      foreach(item IN LISTS ARG_${kind})
        set_property(${kind} "${item}" PROPERTY ${rule} "${launch}")
      endforeach()
    endforeach()
  endforeach()
endfunction()
