# Language level, warnings and sanitizers, the same for every target.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON) # GNU builtins and vector extensions are used, in src/ and softgpu/ only
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/ar")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

# cmake without a preset: what `make` builds, not code without optimisation.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()
set(CROC_SANITIZE "" CACHE STRING "address, undefined, thread or fuzzer; empty for none")
option(CROC_SANITIZE_VALU "softgpu/valu's loops, too, which take the compiler minutes" OFF)
set(CROC_VALU_BUILT "" CACHE PATH "A build folder of these sources, whose objects of softgpu/valu's loops a sanitizer build takes; empty for none")
option(CROC_WERROR "Warnings are errors" ON)

add_compile_options(-Wall -Wextra -Wshadow -Wpointer-arith -Wvla -Wundef
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
  -fno-strict-aliasing -fno-omit-frame-pointer)
if(CROC_WERROR)
  add_compile_options(-Werror)
endif()
add_compile_definitions(_GNU_SOURCE)

if(CROC_SANITIZE)
  add_compile_options(-fsanitize=${CROC_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${CROC_SANITIZE})
else()
  add_link_options(LINKER:--no-undefined LINKER:--as-needed)
endif()

find_program(CROC_CCACHE ccache)
if(CROC_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CROC_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CROC_CCACHE})
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_package(Threads REQUIRED)
