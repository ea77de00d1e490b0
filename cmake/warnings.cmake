# The warnings that every file must pass, and what the sanitizer and fuzzer builds add.
# Warnings are errors with the two compilers that the code is kept clean for; another version may
# warn of more, which must not keep a user from building.
set(werror OFF)
if((CMAKE_C_COMPILER_ID STREQUAL GNU AND CMAKE_C_COMPILER_VERSION VERSION_LESS 13)
    OR (CMAKE_C_COMPILER_ID STREQUAL Clang AND CMAKE_C_COMPILER_VERSION VERSION_LESS 15))
  set(werror ON)
endif()
option(ASSAY_WERROR "treat warnings as errors" ${werror})

set(ASSAY_WARNINGS -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
  -Wconversion -Wpointer-arith -Wwrite-strings -Wundef -Wformat=2 -Wcast-align=strict
  -Wimplicit-fallthrough)
if(CMAKE_C_COMPILER_ID STREQUAL Clang)
  list(REMOVE_ITEM ASSAY_WARNINGS -Wcast-align=strict)
  list(APPEND ASSAY_WARNINGS -Wno-gnu-statement-expression)
endif()
if(ASSAY_WERROR)
  list(APPEND ASSAY_WARNINGS -Werror)
endif()

if(ASSAY_SANITIZE OR ASSAY_FUZZ)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=address,undefined)
endif()
if(ASSAY_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID STREQUAL Clang)
    message(FATAL_ERROR "ASSAY_FUZZ needs clang: cmake -DCMAKE_C_COMPILER=clang-14")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
add_compile_definitions(_GNU_SOURCE _FILE_OFFSET_BITS=64)
