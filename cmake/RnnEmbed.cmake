# rnn_embed(NAME FUNCTION fn FILES file...): a library with the text of the files, for a compiler that
# runs later. A script of CMake's own writes it, so that the build needs no other tool.
set(RNN_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/EmbedText.cmake)

function(rnn_embed name)
  cmake_parse_arguments(A "" "HEADER;FUNCTION;PREFIX" "FILES;LINK" ${ARGN})
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  string(REPLACE ";" "|" files "${A_FILES}")
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DHEADER=${A_HEADER} -DFUNCTION=${A_FUNCTION}
            -DPREFIX=${A_PREFIX} "-DFILES=${files}" -P ${RNN_EMBED_SCRIPT}
    DEPENDS ${A_FILES} ${RNN_EMBED_SCRIPT}
    VERBATIM)
  rnn_library(${name} SOURCES ${out} LINK ${A_LINK})
endfunction()
