# Every target of the project is made by one of these functions, so that flags and the layering are
# stated once. A target sees another part's headers only by linking it: `runtime` links nothing of
# ours, `dialects` nothing of ours, `compiler` the dialects and the runtime, `tools` everything.

find_program(RNN_CCACHE ccache)
if(RNN_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${RNN_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${RNN_CCACHE})
endif()

add_library(rnn_flags INTERFACE)
target_compile_options(rnn_flags INTERFACE -Wall -Wextra -Wno-unused-parameter)
# CMake 3.25 does not know CMAKE_LINKER_TYPE yet.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_link_options(rnn_flags INTERFACE -fuse-ld=lld)
endif()
if(RNN_SANITIZE)
  target_compile_options(rnn_flags INTERFACE -fsanitize=${RNN_SANITIZE} -fno-sanitize-recover=all
                         -fno-omit-frame-pointer -g1)
  # Calls through pointers are checked by a record in front of the function; kernels that are made at
  # run time have none, and one at the start of a page has nothing readable there.
  if(RNN_SANITIZE MATCHES undefined AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(rnn_flags INTERFACE -fno-sanitize=function)
  endif()
  target_link_options(rnn_flags INTERFACE -fsanitize=${RNN_SANITIZE})
endif()

# rnn_library(NAME SOURCES ... LINK ... [INCLUDE dir ...])
function(rnn_library name)
  cmake_parse_arguments(A "" "" "SOURCES;LINK;INCLUDE" ${ARGN})
  add_library(${name} STATIC ${A_SOURCES})
  target_link_libraries(${name} PUBLIC ${A_LINK} PRIVATE rnn_flags)
  target_include_directories(${name} PUBLIC ${A_INCLUDE})
endfunction()

function(rnn_executable name)
  cmake_parse_arguments(A "" "" "SOURCES;LINK;INCLUDE" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE ${A_LINK} rnn_flags)
  target_include_directories(${name} PRIVATE ${A_INCLUDE})
endfunction()

# A GoogleTest program in build/bin; tools/test finds it through ctest.
function(rnn_unit_test name)
  cmake_parse_arguments(A "" "" "SOURCES;LINK;INCLUDE" ${ARGN})
  rnn_executable(${name} SOURCES ${A_SOURCES} LINK ${A_LINK} GTest::gtest GTest::gtest_main
                 INCLUDE ${A_INCLUDE})
  add_test(NAME ${name} COMMAND ${name})
endfunction()
