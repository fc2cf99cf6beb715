# libdw of elfutils: libdw_FOUND, libdw_VERSION, libdw_INCLUDE_DIRS, libdw_LIBRARIES, libdw::libdw.
# libdw_ROOT names an installation elsewhere.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_libdw QUIET libdw)
endif()
find_path(libdw_INCLUDE_DIR NAMES elfutils/libdw.h
  HINTS ${libdw_ROOT} ${PC_libdw_INCLUDE_DIRS} PATH_SUFFIXES include)
find_library(libdw_LIBRARY NAMES dw
  HINTS ${libdw_ROOT} ${PC_libdw_LIBRARY_DIRS} PATH_SUFFIXES lib lib64)
mark_as_advanced(libdw_INCLUDE_DIR libdw_LIBRARY)

if(libdw_INCLUDE_DIR AND EXISTS "${libdw_INCLUDE_DIR}/elfutils/version.h")
  file(STRINGS "${libdw_INCLUDE_DIR}/elfutils/version.h" libdw_VERSION
    REGEX "^#define[ \t]+_ELFUTILS_VERSION[ \t]+[0-9]+")
  string(REGEX REPLACE ".*[ \t]([0-9]+).*" "0.\\1" libdw_VERSION "${libdw_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(libdw REQUIRED_VARS libdw_LIBRARY libdw_INCLUDE_DIR
  VERSION_VAR libdw_VERSION)
if(libdw_FOUND)
  set(libdw_INCLUDE_DIRS "${libdw_INCLUDE_DIR}")
  set(libdw_LIBRARIES "${libdw_LIBRARY}")
  if(NOT TARGET libdw::libdw)
    add_library(libdw::libdw UNKNOWN IMPORTED)
    set_target_properties(libdw::libdw PROPERTIES IMPORTED_LOCATION "${libdw_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${libdw_INCLUDE_DIR}")
  endif()
endif()
