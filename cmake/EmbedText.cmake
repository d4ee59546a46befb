# Writes OUT: the definition of FUNCTION, declared in HEADER, over the text of FILES ("|" between
# them), each named PREFIX + its file name. Bytes, because string literals
# have length limits.
string(REPLACE "|" ";" FILES "${FILES}")
set(texts "")
set(rows "")
set(n 0)
foreach(file ${FILES})
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  get_filename_component(base ${file} NAME)
  string(APPEND texts "const unsigned char text${n}[] = {\n${bytes}0};\n")
  string(APPEND rows "    {\"${PREFIX}${base}\", reinterpret_cast<const char*>(text${n}), sizeof(text${n}) - 1},\n")
  math(EXPR n "${n} + 1")
endforeach()
file(WRITE ${OUT} "// Made by cmake/EmbedText.cmake.
#include \"${HEADER}\"

namespace {
${texts}
const rnnc::EmbeddedText texts[] = {
${rows}};
} // namespace

std::span<const rnnc::EmbeddedText> rnnc::${FUNCTION}() { return texts; }
")
