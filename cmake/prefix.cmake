# What make install writes besides files of the build: the version of the ROCm prefix, and the list
# of everything that it put there. Run by CMake at installation, after all the other rules.
#
# The list has paths relative to the prefix, so that the tree may be moved, and keeps what earlier
# installations left, so that nothing of theirs stays behind.
get_filename_component(croc_prefix "${CMAKE_INSTALL_PREFIX}" ABSOLUTE) # --prefix takes relative ones
set(croc_root "$ENV{DESTDIR}${croc_prefix}")
set(croc_list share/crocprof/installed.txt)

# A prefix that has a version already is a ROCm of somebody else, or ours.
set(croc_version "${croc_rocm_version}-crocprof\n")
if(EXISTS "${croc_root}/.info/version")
  file(READ "${croc_root}/.info/version" croc_found)
else()
  file(WRITE "${croc_root}/.info/version" "${croc_version}")
  set(croc_found "${croc_version}")
endif()

set(croc_paths ${croc_list})
if(EXISTS "${croc_root}/${croc_list}")
  file(STRINGS "${croc_root}/${croc_list}" croc_paths)
endif()
if(croc_found STREQUAL croc_version)
  list(APPEND croc_paths .info/version)
endif()
foreach(croc_file IN LISTS CMAKE_INSTALL_MANIFEST_FILES)
  get_filename_component(croc_file "${croc_file}" ABSOLUTE)
  file(RELATIVE_PATH croc_path "${croc_prefix}" "${croc_file}")
  list(APPEND croc_paths "${croc_path}")
endforeach()
list(REMOVE_DUPLICATES croc_paths)
list(SORT croc_paths)
string(REPLACE ";" "\n" croc_text "${croc_paths}")
file(WRITE "${croc_root}/${croc_list}" "${croc_text}\n")
