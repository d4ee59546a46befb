# Every target of the project is made by one of these functions, so that flags and the layering are
# stated once. A target sees another part's headers only by linking it: `runtime` links nothing of
# ours, `dialects` nothing of ours, `compiler` the dialects and the runtime, `tools` everything.

find_program(RNN_CCACHE ccache)
if(RNN_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${RNN_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_CURRENT_LIST_DIR}/ccache.sh)
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
  # Instrumented tests take most of the time of the sanitizers' builds: a third of it at -O1.
  if(RNN_SANITIZE)
    target_compile_options(${name} PRIVATE -O1)
  endif()
  add_test(NAME ${name} COMMAND ${name})
endfunction()

# Headers that many files of a target include are parsed once. Every file still includes what it uses:
# RNN_PRECOMPILE=OFF builds without.
option(RNN_PRECOMPILE "Parse common headers once for all files of a target" ON)
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(RNN_PRECOMPILE OFF)
endif()
# CMake names the header's source too, by a path that ccache does not make relative.
set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Xclang -include-pch -Xclang <PCH_FILE>)

# rnn_precompile(TARGET ORIGIN text HEADERS <header>...): ORIGIN names the versions that the headers come
# from; with it ccache knows what they are (cmake/ccache.sh).
function(rnn_precompile target)
  cmake_parse_arguments(A "" "ORIGIN" "HEADERS" ${ARGN})
  if(NOT RNN_PRECOMPILE)
    return()
  endif()
  set_target_properties(${target} PROPERTIES PCH_INSTANTIATE_TEMPLATES ON)
  # Clang's own time stamp would make the same header another one each time.
  target_compile_options(${target} PRIVATE -Xclang -fno-pch-timestamp)
  target_precompile_headers(${target} PRIVATE ${A_HEADERS})
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.pch.sum
       CONTENT "${A_HEADERS} of ${A_ORIGIN}\n")
endfunction()

# TARGET takes what OWNER, a library with the same flags, has parsed. A program's own -fPIE would be another
# flag, and so would be a test's own -O1.
function(rnn_share_precompiled target owner)
  if(RNN_PRECOMPILE)
    target_compile_options(${target} PRIVATE -Xclang -fno-pch-timestamp -fPIC)
    if(RNN_SANITIZE) # a list of names, which no generator expression takes
      target_compile_options(${target} PRIVATE -O3)
    endif()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

# What the runtime's files and its tests include most.
set(RNN_STANDARD_HEADERS <algorithm> <cmath> <cstdint> <cstring> <functional> <map> <memory> <optional> <set>
    <span> <string> <string_view> <utility> <vector>)
function(rnn_precompile_runtime target)
  rnn_precompile(${target} ORIGIN "fmt ${fmt_VERSION}"
                 HEADERS ${RNN_STANDARD_HEADERS} <fmt/format.h>)
endfunction()
function(rnn_precompile_tests)
  foreach(target ${ARGN})
    rnn_precompile(${target} ORIGIN "GoogleTest ${GTest_VERSION}"
                   HEADERS ${RNN_STANDARD_HEADERS} <gtest/gtest.h>)
  endforeach()
endfunction()
