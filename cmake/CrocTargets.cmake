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
  add_test(NAME ${folder}/${test} COMMAND ${target})
  set_tests_properties(${folder}/${test} PROPERTIES LABELS unit TIMEOUT 120)
endfunction()
