# What a project may ask about the machine's GPUs when it is configured.

set(_rocprofiler_sdk_root "${rocprofiler-sdk_ROOT_DIR}")

# Every agent's own name in the answer of rocminfo, each once; empty without a GPU.
function(_rocprofiler_sdk_read_agents result)
  set(${result} "" PARENT_SCOPE)
  find_program(rocminfo_EXECUTABLE NAMES rocminfo
    HINTS ${_rocprofiler_sdk_root} ${ROCM_PATH} ENV ROCM_PATH PATHS /opt/rocm
    PATH_SUFFIXES bin)
  mark_as_advanced(rocminfo_EXECUTABLE)
  if(NOT rocminfo_EXECUTABLE)
    message(WARNING "no rocminfo: this machine's GPUs are not known")
    return()
  endif()
  set(command "${rocminfo_EXECUTABLE}")
  # Where there is no GPU, the one on which crocprof runs programs is meant.
  if(NOT EXISTS /dev/kfd AND EXISTS "${_rocprofiler_sdk_root}/bin/crocgpu" AND
     NOT "$ENV{LD_PRELOAD}" MATCHES "libcrocgpu")
    list(INSERT command 0 "${_rocprofiler_sdk_root}/bin/crocgpu")
  endif()
  execute_process(COMMAND ${command} RESULT_VARIABLE status OUTPUT_VARIABLE text
    ERROR_VARIABLE errors)
  if(NOT status EQUAL 0)
    message(WARNING "${command} ended with ${status}, this machine's GPUs are not known: ${errors}")
    return()
  endif()
  string(REGEX MATCHALL "\n +Name: +gfx[0-9a-f]+" lines "\n${text}")
  string(REGEX MATCHALL "gfx[0-9a-f]+" names "${lines}")
  list(REMOVE_DUPLICATES names)
  set(${result} "${names}" PARENT_SCOPE)
endfunction()

# rocprofiler_sdk_get_gfx_architectures(RESULT [ECHO] [PREFIX text] [DELIM text])
#
# A list of this machine's GPU architectures (gfx90a;gfx942), in the runtime's order, each once.
function(rocprofiler_sdk_get_gfx_architectures result)
  cmake_parse_arguments(ARG "ECHO" "PREFIX;DELIM" "" ${ARGN})
  _rocprofiler_sdk_read_agents(names)
  set(${result} "${names}" PARENT_SCOPE)
  if(ARG_ECHO)
    if(NOT DEFINED ARG_DELIM)
      set(ARG_DELIM ", ")
    endif()
    string(REPLACE ";" "${ARG_DELIM}" text "${names}")
    message(STATUS "${ARG_PREFIX}GPU architectures of this system: ${text}")
  endif()
endfunction()

# One answer for both methods. Only the first GPU is asked, since tests run on that one.
macro(_rocprofiler_sdk_sampling_disabled result methods pattern)
  cmake_parse_arguments(ARG "ECHO" "PREFIX" "" ${ARGN})
  if(rocprofiler-sdk_HAS_PC_SAMPLING)
    _rocprofiler_sdk_read_agents(names)
    list(APPEND names "no GPU")
    list(GET names 0 name)
    set(reason "this machine's first GPU is: ${name}")
  else()
    set(name "")
    set(reason "this library has none")
  endif()
  set(text "${ARG_PREFIX}${methods} is available on ${name}")
  set(disabled FALSE)
  if(NOT name MATCHES "${pattern}")
    set(text "${ARG_PREFIX}${methods} is not available: ${reason}")
    set(disabled TRUE)
  endif()
  set(${result} ${disabled} PARENT_SCOPE)
  if(ARG_ECHO OR NOT rocprofiler-sdk_HAS_PC_SAMPLING) # a skipped test says why
    message(STATUS "${text}")
  endif()
endmacro()

# rocprofiler_sdk_pc_sampling_disabled(RESULT [ECHO] [PREFIX text]): TRUE where PC sampling by any
# method is impossible.
function(rocprofiler_sdk_pc_sampling_disabled result)
  _rocprofiler_sdk_sampling_disabled(${result} "PC sampling" "^gfx(90a|94[0-9]|95[0-9])$" ${ARGN})
endfunction()

# rocprofiler_sdk_pc_sampling_stochastic_disabled(RESULT [ECHO] [PREFIX text]): TRUE where the
# hardware does not choose the samples itself.
function(rocprofiler_sdk_pc_sampling_stochastic_disabled result)
  _rocprofiler_sdk_sampling_disabled(${result} "stochastic PC sampling" "^gfx9[45][0-9]$" ${ARGN})
endfunction()
