# The CMakeLists.txt of a folder that tools/gpu --prepare makes: the runtime without its part for the CPU and
# without files but .npy, with a C++ compiler, the standard library and what lies in the folder.
cmake_minimum_required(VERSION 3.22)
project(rnn_gpu LANGUAGES C CXX)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

# Once, not in every file as with FMT_HEADER_ONLY.
add_library(fmt_once STATIC test/fmt_once.cpp)
add_library(fmt::fmt ALIAS fmt_once)
target_include_directories(fmt_once SYSTEM PUBLIC ${PROJECT_SOURCE_DIR}/fmt)
set_target_properties(fmt_once PROPERTIES POSITION_INDEPENDENT_CODE ON)

foreach(part RNN_BUILD_COMPILER RNN_BUILD_TESTS RNN_CPU RNN_IO)
  set(${part} OFF)
endforeach()
add_subdirectory(source EXCLUDE_FROM_ALL)
set(INSTALL_GTEST OFF)
add_subdirectory(googletest EXCLUDE_FROM_ALL)

list(APPEND CMAKE_MODULE_PATH ${PROJECT_SOURCE_DIR}/source/cmake)
include(RnnEmbed)
rnn_embed(gpu_math_text HEADER math_text.hpp FUNCTION mathText FILES ${PROJECT_SOURCE_DIR}/test/math_sweep.cuh)
target_include_directories(gpu_math_text PRIVATE ${PROJECT_SOURCE_DIR}/test ${PROJECT_SOURCE_DIR}/source/runtime)

rnn_library(gpu_support SOURCES test/gpu.cpp test/cases.cpp
  LINK rnn_runtime rnn_npy rnn_nvrtc ${CMAKE_DL_LIBS}
  INCLUDE ${PROJECT_SOURCE_DIR}/test ${PROJECT_SOURCE_DIR}/source/runtime)
rnn_executable(gpu_test SOURCES test/cells_test.cpp test/math_test.cpp LINK gpu_support gpu_math_text GTest::gtest GTest::gtest_main)
rnn_executable(gpu_bench SOURCES test/bench.cpp LINK gpu_support)
