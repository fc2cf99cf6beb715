# `make` builds what is used and installed; this and the folders tests/ and bench/ are built by make check.
add_custom_target(unit_tests)

# croc_test_only(target ...): what only unit tests use, beside them in src/ and softgpu/.
function(croc_test_only)
  set_target_properties(${ARGN} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  add_dependencies(unit_tests ${ARGN})
endfunction()

# croc_library(name SOURCES a.c ... [LIBS ...] [TESTS a_test.c ...])
#
# One folder of the house: a static, position-independent library whose unit tests stand beside
# the code. Includes are written from the part's root: "base/status.h", "cp/queue.h".
function(croc_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS;TESTS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_LIBS})
  foreach(test ${ARG_TESTS})
    croc_unit_test(${test} ${name})
  endforeach()
endfunction()

# croc_unit_test(foo_test.c lib ...): a cmocka program, run by CTest under the label "unit".
# A build with CROC_PARTS less than everything still builds and runs the tests of its parts.
function(croc_unit_test source)
  get_filename_component(test ${source} NAME_WE)
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(target ${folder}_${test})
  add_executable(${target} ${source})
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(${target} PRIVATE ${ARGN} cmocka Threads::Threads)
  croc_test_only(${target})
  add_test(NAME ${folder}/${test} COMMAND ${target})
  set_tests_properties(${folder}/${test} PROPERTIES LABELS unit TIMEOUT 120)
endfunction()

# croc_completion(program other_name ...): build/completion, for bash, zsh and fish, from what croc_man_page's
# rows print.
function(croc_completion program)
  set(folder ${CMAKE_BINARY_DIR}/completion)
  set(made ${folder}/${program}.bash ${folder}/_${program} ${folder}/${program}.fish)
  set(make ${CMAKE_SOURCE_DIR}/gen/completion.py)
  add_custom_command(OUTPUT ${made} DEPENDS ${make} ${CMAKE_SOURCE_DIR}/gen/man_page.py ${program}_man_rows VERBATIM
    COMMAND Python3::Interpreter ${make} $<TARGET_FILE:${program}_man_rows> ${folder} ${program} ${ARGN})
  add_custom_target(${program}_completion ALL DEPENDS ${made})
  foreach(name ${program} ${ARGN}) # shells look for a file of the command's name
    file(MAKE_DIRECTORY ${folder}/bash ${folder}/fish)
    if(NOT name STREQUAL program)
      file(CREATE_LINK ${program} ${folder}/bash/${name} SYMBOLIC)
      file(CREATE_LINK ${program}.fish ${folder}/fish/${name}.fish SYMBOLIC)
    endif()
  endforeach()
endfunction()

# croc_man_page(program rows.c ...): build/man/program.1, from data/man and the program's own options,
# which rows.c prints.
function(croc_man_page program)
  add_executable(${program}_man_rows ${ARGN})
  set_target_properties(${program}_man_rows PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/man)
  set(page ${CMAKE_BINARY_DIR}/man/${program}.1)
  set(make ${CMAKE_SOURCE_DIR}/gen/man_page.py)
  set(text ${CMAKE_SOURCE_DIR}/data/man/${program}.1.in)
  add_custom_command(OUTPUT ${page} DEPENDS ${make} ${text} ${program}_man_rows VERBATIM
    COMMAND Python3::Interpreter ${make} $<TARGET_FILE:${program}_man_rows> ${text}
      ${PROJECT_VERSION} ${page})
  add_custom_target(${program}_man ALL DEPENDS ${page})
endfunction()
