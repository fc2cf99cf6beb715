# What the package rocprofiler-sdk has besides its library. Included by its config file.

# Whether rocprofiler_configure_pc_sampling_service is more than an error (tests/install looks).
set(rocprofiler-sdk_HAS_PC_SAMPLING FALSE)

# Clients need the headers of HSA, HIP and comgr, and are not to be linked with those libraries. The
# headers are looked for, not the packages: HIP's package file ends configuration when a compiler's
# parts are missing, and this interface serves C projects without HIP, too.
if(NOT TARGET rocprofiler-sdk::rocprofiler-sdk-external-nolink)
  add_library(rocprofiler-sdk::rocprofiler-sdk-external-nolink INTERFACE IMPORTED)
  set_property(TARGET rocprofiler-sdk::rocprofiler-sdk-external-nolink PROPERTY
    INTERFACE_COMPILE_DEFINITIONS __HIP_PLATFORM_AMD__=1 __HIP_PLATFORM_HCC__=1)
  set_property(TARGET rocprofiler-sdk::rocprofiler-sdk-headers APPEND PROPERTY
    INTERFACE_LINK_LIBRARIES rocprofiler-sdk::rocprofiler-sdk-external-nolink)
  foreach(_croc_header hsa/hsa.h hip/hip_runtime_api.h amd_comgr/amd_comgr.h)
    get_filename_component(_croc_name "${_croc_header}" NAME_WE)
    find_path(rocprofiler-sdk_${_croc_name}_INCLUDE_DIR NAMES ${_croc_header}
      HINTS ${rocprofiler-sdk_ROOT_DIR} ${ROCM_PATH} ENV ROCM_PATH PATHS /opt/rocm
      PATH_SUFFIXES include)
    mark_as_advanced(rocprofiler-sdk_${_croc_name}_INCLUDE_DIR)
    # the compiler's own folder must not move in its search order
    if(rocprofiler-sdk_${_croc_name}_INCLUDE_DIR AND
       NOT rocprofiler-sdk_${_croc_name}_INCLUDE_DIR STREQUAL "/usr/include")
      set_property(TARGET rocprofiler-sdk::rocprofiler-sdk-external-nolink APPEND PROPERTY
        INTERFACE_INCLUDE_DIRECTORIES "${rocprofiler-sdk_${_croc_name}_INCLUDE_DIR}")
      set_property(TARGET rocprofiler-sdk::rocprofiler-sdk-external-nolink APPEND PROPERTY
        INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${rocprofiler-sdk_${_croc_name}_INCLUDE_DIR}")
    endif()
  endforeach()
  unset(_croc_header)
  unset(_croc_name)
endif()

# Serialisation with AMD's fork of cereal, traces with Perfetto's SDK: neither is ours. Where a
# machine has none there is no target, so that a client can tell and fetch its own.
if(NOT TARGET rocprofiler-sdk::rocprofiler-sdk-cereal)
  find_path(rocprofiler-sdk_cereal_INCLUDE_DIR NAMES cereal/cereal.hpp
    HINTS "${rocprofiler-sdk_ROOT_DIR}" PATH_SUFFIXES include)
  mark_as_advanced(rocprofiler-sdk_cereal_INCLUDE_DIR)
  set(_croc_lines "")
  if(rocprofiler-sdk_cereal_INCLUDE_DIR) # AMD's tests write with an archive that only its fork has
    file(STRINGS "${rocprofiler-sdk_cereal_INCLUDE_DIR}/cereal/archives/json.hpp" _croc_lines
      REGEX "class +MinimalJSONOutputArchive")
  endif()
  if(_croc_lines)
    add_library(rocprofiler-sdk::rocprofiler-sdk-cereal INTERFACE IMPORTED)
    set_property(TARGET rocprofiler-sdk::rocprofiler-sdk-cereal PROPERTY
      INTERFACE_COMPILE_DEFINITIONS CEREAL_THREAD_SAFE=1)
    if(NOT rocprofiler-sdk_cereal_INCLUDE_DIR STREQUAL "/usr/include")
      set_property(TARGET rocprofiler-sdk::rocprofiler-sdk-cereal PROPERTY
        INTERFACE_INCLUDE_DIRECTORIES "${rocprofiler-sdk_cereal_INCLUDE_DIR}")
    endif()
    set_property(TARGET rocprofiler-sdk::rocprofiler-sdk-cereal PROPERTY
      INTERFACE_LINK_LIBRARIES rocprofiler-sdk::rocprofiler-sdk-headers)
  endif()
  unset(_croc_lines)
endif()
if(NOT TARGET rocprofiler-sdk::rocprofiler-sdk-perfetto)
  find_path(rocprofiler-sdk_perfetto_INCLUDE_DIR NAMES perfetto.h
    HINTS "${rocprofiler-sdk_ROOT_DIR}" PATH_SUFFIXES include include/perfetto share/perfetto/sdk)
  find_library(rocprofiler-sdk_perfetto_LIBRARY NAMES perfetto perfetto_sdk
    HINTS "${rocprofiler-sdk_ROOT_DIR}" PATH_SUFFIXES lib)
  mark_as_advanced(rocprofiler-sdk_perfetto_INCLUDE_DIR rocprofiler-sdk_perfetto_LIBRARY)
  if(rocprofiler-sdk_perfetto_INCLUDE_DIR AND rocprofiler-sdk_perfetto_LIBRARY)
    add_library(rocprofiler-sdk::rocprofiler-sdk-perfetto INTERFACE IMPORTED)
    set_target_properties(rocprofiler-sdk::rocprofiler-sdk-perfetto PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${rocprofiler-sdk_perfetto_INCLUDE_DIR}"
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${rocprofiler-sdk_perfetto_INCLUDE_DIR}"
      INTERFACE_LINK_LIBRARIES
        "${rocprofiler-sdk_perfetto_LIBRARY};rocprofiler-sdk::rocprofiler-sdk-headers")
  endif()
endif()

# Programs, by the names under which scripts and tests of others look for them. The targets are
# there also where a program is not installed, so that such a project configures.
foreach(_croc_program bin/rocprofv3 bin/rocprofv3-avail
    share/rocprofiler-sdk/convert-counters-collection-format.py)
  get_filename_component(_croc_name "${_croc_program}" NAME_WE)
  if(NOT TARGET rocprofiler-sdk::${_croc_name})
    add_executable(rocprofiler-sdk::${_croc_name} IMPORTED)
    set_property(TARGET rocprofiler-sdk::${_croc_name} PROPERTY
      IMPORTED_LOCATION "${rocprofiler-sdk_ROOT_DIR}/${_croc_program}")
  endif()
endforeach()
unset(_croc_program)
unset(_croc_name)

find_package(Threads QUIET) # clients of the SDK's package take Threads::Threads for granted
list(FIND CMAKE_MODULE_PATH "${rocprofiler-sdk_CMAKE_DIR}/Modules" _croc_at)
if(_croc_at EQUAL -1)
  list(APPEND CMAKE_MODULE_PATH "${rocprofiler-sdk_CMAKE_DIR}/Modules")
endif()
unset(_croc_at)
include("${rocprofiler-sdk_CMAKE_DIR}/Modules/rocprofiler-sdk-utilities.cmake")
