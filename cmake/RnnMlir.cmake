# LLVM and MLIR 22.1 from Debian's packages, linked shared.
find_program(RNN_LLVM_CONFIG NAMES llvm-config-22 REQUIRED)
execute_process(COMMAND ${RNN_LLVM_CONFIG} --prefix OUTPUT_VARIABLE RNN_LLVM_PREFIX
                OUTPUT_STRIP_TRAILING_WHITESPACE)
find_package(MLIR 22.1 REQUIRED CONFIG HINTS ${RNN_LLVM_PREFIX}/lib/cmake/mlir)
set(LLVM_RUNTIME_OUTPUT_INTDIR ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
list(APPEND CMAKE_MODULE_PATH ${LLVM_CMAKE_DIR} ${MLIR_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

add_library(rnn_mlir INTERFACE)
target_include_directories(rnn_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_link_directories(rnn_mlir INTERFACE ${LLVM_LIBRARY_DIRS})
target_link_libraries(rnn_mlir INTERFACE MLIR LLVM)
target_compile_options(rnn_mlir INTERFACE -fno-exceptions -Wno-deprecated-declarations)

# MLIR's headers take most of the time of every file that includes them: one target has them parsed,
# the others share it.
set(RNN_MLIR_HEADERS
  <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Math/IR/Math.h> <mlir/Dialect/SCF/IR/SCF.h>
  <mlir/IR/Builders.h> <mlir/IR/BuiltinOps.h> <mlir/IR/Dominance.h> <mlir/IR/IRMapping.h>
  <mlir/IR/Matchers.h> <mlir/IR/PatternMatch.h> <mlir/Pass/Pass.h>
  <mlir/Transforms/GreedyPatternRewriteDriver.h>
  <llvm/ADT/StringMap.h> <llvm/ADT/TypeSwitch.h>)

function(rnn_precompile_mlir owner)
  file(REAL_PATH ${RNN_LLVM_PREFIX}/lib/libMLIR.so library)
  file(SIZE ${library} size)
  file(TIMESTAMP ${library} built UTC)
  rnn_precompile(${owner} ORIGIN "LLVM ${LLVM_PACKAGE_VERSION}, ${size} bytes, ${built}"
                 HEADERS ${RNN_MLIR_HEADERS})
endfunction()

function(rnn_use_precompiled_mlir)
  foreach(target ${ARGN})
    if(TARGET ${target})
      rnn_share_precompiled(${target} rnn_dialects)
    endif()
  endforeach()
endfunction()
