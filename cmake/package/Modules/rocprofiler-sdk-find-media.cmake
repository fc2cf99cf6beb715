# rocDecode and rocJPEG differ in nothing but their names.

# _rocprofiler_sdk_find_media(rocDecode rocdecode ROCDECODE): name_ROOT_DIR, name_INCLUDE_DIR,
# name_LIBRARY, name_VERSION and name::name. A macro: the variables are the caller's.
macro(_rocprofiler_sdk_find_media name lower upper)
  find_path(${name}_ROOT_DIR NAMES include/${lower}/${lower}.h
    HINTS ${ROCM_PATH} ENV ROCM_PATH PATHS /opt/rocm)
  find_path(${name}_INCLUDE_DIR NAMES ${lower}/${lower}.h
    HINTS ${${name}_ROOT_DIR} PATH_SUFFIXES include)
  find_library(${name}_LIBRARY NAMES ${lower} HINTS ${${name}_ROOT_DIR} PATH_SUFFIXES lib)
  mark_as_advanced(${name}_ROOT_DIR ${name}_INCLUDE_DIR ${name}_LIBRARY)

  if(${name}_INCLUDE_DIR AND EXISTS "${${name}_INCLUDE_DIR}/${lower}/${lower}_version.h")
    file(STRINGS "${${name}_INCLUDE_DIR}/${lower}/${lower}_version.h" _rocprofiler_sdk_lines
      REGEX "^#define[ \t]+${upper}_(MAJOR|MINOR|MICRO|PATCH)_VERSION[ \t]+[0-9]+")
    string(REGEX MATCHALL "VERSION[ \t]+[0-9]+" ${name}_VERSION "${_rocprofiler_sdk_lines}")
    string(REGEX REPLACE "VERSION[ \t]+" "" ${name}_VERSION "${${name}_VERSION}")
    string(REPLACE ";" "." ${name}_VERSION "${${name}_VERSION}")
    unset(_rocprofiler_sdk_lines)
  endif()

  include(FindPackageHandleStandardArgs)
  find_package_handle_standard_args(${name} REQUIRED_VARS ${name}_INCLUDE_DIR ${name}_LIBRARY
    VERSION_VAR ${name}_VERSION)
  if(${name}_FOUND AND NOT TARGET ${name}::${name})
    add_library(${name}::${name} UNKNOWN IMPORTED)
    set_target_properties(${name}::${name} PROPERTIES IMPORTED_LOCATION "${${name}_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${${name}_INCLUDE_DIR}")
  endif()
endmacro()
