//===- Codes.cpp - the long texts of the messages ---------------------------------------------===//

#include "rnnc/Diagnostics.h"

using namespace rnnc;

namespace {
constexpr CodeText kCodes[] = {
    {"RNN0001", "unexpected character",
     "The text holds a character that the language does not use. Names are ASCII letters, digits "
     "and _,\n"
     "and Greek letters."},
    {"RNN0002", "not valid UTF-8", "A .rnn file is UTF-8 text. Save it as such."},
    {"RNN0003", "number too large",
     "Numbers are read as float64, up to about 1.8e308. Write inf for infinity."},
    {"RNN0004", "name right after a number",
     "There is no implicit product: write 2 * x. Names do not begin with a digit."},
    {"RNN0005", "comment or text never closed",
     "A comment that begins with /* ends with */; they do not nest. A text in quotes ends on its "
     "line."},
    {"RNN0006", "nesting too deep",
     "Brackets, operators that wait for an operand, and calls in calls are limited, 256 unless\n"
     "--limit nesting=N says otherwise."},
    {"RNN0007", "too many operations",
     "Functions are inlined, so a few lines can stand for very many operations. A cell may have "
     "100000\n"
     "unless --limit operations=N says otherwise."},
    {"RNN0008", "cannot read the file",
     "The file does not exist, is a directory, or may not be read. An import is a regular file."},
    {"RNN0009", "the file is too large",
     "A file and what it imports may have 1 MiB unless --limit source=SIZE says otherwise. The "
     "size "
     "is\n"
     "checked before a file is read."},
    {"RNN0010", "name too long", "A name has at most 255 bytes. Greek letters take two each."},
    {"RNN0011", "too many declarations",
     "A cell has at most 4096 dims, inputs, params, states and outputs. What has so many names "
     "wants to\n"
     "be an array: an axis of it costs nothing."},
    {"RNN0101", "syntax error",
     "The text is not what the grammar allows at this place. A line holds one declaration or "
     "equation;\n"
     "it goes on inside brackets and after an operator."},
    {"RNN0102", "brackets that do not pair",
     "Every ( [ { needs its ) ] }, and the other way round."},
    {"RNN0103", "comparisons do not chain",
     "a < b < c has no meaning here: write a < b and b < c."},
    {"RNN0104", "word of the language used as a name",
     "cell dim input param state hidden output const fn import save recompute solve return and or "
     "not t\n"
     "cannot name anything."},
    {"RNN0105", "a step cannot read the future",
     "x[t+1] does not exist. Reverse the time instead."},
    {"RNN0106", "bad left side",
     "An equation defines a name, or name[t] for a state or an output."},
    {"RNN0107", "function returns nothing", "A function with { } ends with a line 'return value'."},
    {"RNN0110", "name not defined",
     "Every name is declared, or defined by an equation above its use."},
    {"RNN0111", "a time is missing",
     "Inputs are read as x[t]; states as h[t-1], the previous value, or h[t], the new one."},
    {"RNN0112", "a function sees its arguments only",
     "Functions are inlined where they are called and see their arguments, consts and other "
     "functions."},
    {"RNN0113", "this name has no time",
     "Params and values of the step are written without brackets."},
    {"RNN0114", "outputs have no past", "Only states are carried from step to step."},
    {"RNN0115", "wrong number of arguments",
     "The function is called with more or fewer arguments than it takes."},
    {"RNN0116", "recursive function",
     "Functions are inlined, so none may call itself, not even through others."},
    {"RNN0117", "no such function",
     "The name is neither a built-in function nor declared with fn."},
    {"RNN0118", "defined twice",
     "Each name is declared or defined once, and no function's name is used again."},
    {"RNN0119", "cannot be defined here",
     "name[t] = ... defines a state or an output; name = ... a value of the step that is declared "
     "nowhere."},
    {"RNN0120", "no equation", "Every state and every output needs an equation name[t] = ..."},
    {"RNN0121", "no cell", "A file holds at least one cell NAME { ... }."},
    {"RNN0122", "unknown name on the command line",
     "--dim and --const name what a cell of the file declares."},
    {"RNN0124", "used before its equation",
     "The lines of a step are read from top to bottom: a value, and name[t] of a state or an "
     "output,\n"
     "is used below the equation that defines it."},
    {"RNN0125", "defined through itself",
     "A value of the step needs its own value. Only a state has a previous one: declare\n"
     "state s : [...] = 0 and write s[t] = ... s[t-1] ... A state may need its own new value, "
     "s[t],\n"
     "which is solved for: an implicit step. h[t] = h[t] says nothing about h."},
    {"RNN0126", "no state",
     "A cell is a recurrence: at least one state is carried from step to step."},
    {"RNN0130", "not a file to import",
     "An import names a file relative to the one that it stands in, and never leaves the root "
     "folder: that\n"
     "of the file given to rnnc, or the one of --root DIR. Symbolic links are followed before this "
     "is checked.\n"
     "A text from standard input has imports only with --root."},
    {"RNN0131", "files import each other",
     "Imports bring functions and cells, and none can be used before it is known. What two files "
     "share\n"
     "belongs into a third one."},
    {"RNN0132", "bad hint to the memory planner",
     "save and recompute name values of the step, states and outputs, each once."},
    {"RNN0133", "bad setting of the solve",
     "solve { } sets tolerance (a number, 0 or more), max_sweeps and chunk (whole numbers). "
     "Options "
     "of the\n"
     "command line win over it."},
    {"RNN0201", "bad size", "A size is a whole number of at least 1."},
    {"RNN0202", "too many dims", "An array has at most 4 dims, besides batch and time."},
    {"RNN0203", "not constant",
     "Sizes and values before the first step are known at compile time: numbers, consts, fixed "
     "dims.\n"
     "A state may also begin as a param, by its name alone: state h : [d] = h0."},
    {"RNN0204", "number and truth value mixed",
     "Comparisons give truth values; and, or, not and the condition of where take them, nothing "
     "else."},
    {"RNN0205", "shapes do not fit",
     "Shapes are compared from the right; two dims fit when they have the same name or size, or "
     "one is 1."},
    {"RNN0206", "@ does not fit",
     "A @ b contracts the last axis of A with the only, or the one before the last, axis of b. "
     "Leading\n"
     "axes of both are a batch and must be the same."},
    {"RNN0207", "no such axis",
     "sum(x), mean, max, min, softmax, norm and logsumexp run along an axis: the last one, or "
     "with\n"
     "sum(x, axis = d) the one of that name."},
    {"RNN0208", "not a dim", "A shape lists dims that are declared above it, or numbers."},
    {"RNN0209", "index out of range",
     "Elements are numbered from 0, and from the end with -1. a[from:to] ends before to, and has "
     "at "
     "least one\n"
     "element. The items of an index belong to the last axes: of R : [heads, k, k], R[0] is "
     "[heads, k]."},
    {"RNN0210", "complex and real mixed",
     "Arithmetic, exp, abs, where, sum, mean, norm, '@' and parts of arrays take complex numbers; "
     "everything\n"
     "else takes real ones: re(z), im(z), abs(z), arg(z). There is no order, so none can be "
     "compared. A power\n"
     "is a whole number from -8 to 8. A real value becomes complex where it meets a complex one, "
     "never the\n"
     "other way round. A complex state begins at 0 or as a complex param."},
    {"RNN0301", "a state too many steps back",
     "h[t-n] is carried by n - 1 hidden states, h_back1 to h_back(n-1), which join the block of "
     "h.\n"
     "n is at most 16."},
    {"RNN0401", "dense Jacobian",
     "A contraction couples an axis of the state with itself, so that axis belongs to the block, "
     "and the\n"
     "block is too large for the product of its Jacobians: that costs k^3 for k states. The cell "
     "runs\n"
     "sequentially, vectorised over lanes; --schedule parallel corrects with the diagonal of the "
     "Jacobian\n"
     "alone, which takes more sweeps and gives the same answer. Recurrent weights that are "
     "element-wise (diagonal), or "
     "one small\n"
     "block a head (R : [heads, 4, 4]), let all steps be solved at once."},
    {"RNN0402", "unrolls too far",
     "Block axes and contractions are unrolled into scalars; --limit operations=N raises the "
     "limit."},
    {"RNN0403", "an output that no lane can compute",
     "Outputs that have other axes than their states are moved behind the solve by the hoist pass. "
     "IR in the\n"
     "Rnn dialect that goes around that pass has to give an output the lane axes of its states."},
    {"RNN0404", "a contraction over a free axis inside the recurrence",
     "What depends on no state is contracted before the solve, but here a new state needs a sum "
     "over "
     "an axis\n"
     "that no state has, of something that depends on the state. Its size is only known when the "
     "cell is called,\n"
     "so the step becomes loops, which run sequentially. With a size in the file (dim k = 4) the "
     "contraction is\n"
     "unrolled, and all steps can be solved at once."},
    {"RNN0411", "an implicit step in too large a block",
     "The equations of an implicit step are solved together by Newton's method, in a block of at "
     "most 16\n"
     "states a lane. A contraction over an axis of the state, of h[t] or of h[t-1], makes all of "
     "the axis one\n"
     "block; one small block a head (R : [heads, 4, 4]) is one of 4."},
    {"RNN0412", "an implicit equation does not determine its state",
     "h[t] drops out of h[t] = h[t] + x[t]: no value of h[t], or every one, solves it."},
    {"RNN0499", "rejected by a later phase",
     "A pass of the compiler refused the cell; the message says why."},
    {"RNN0501", "no CUDA text for an operation",
     "A step on CUDA is made of the scalar functions that runtime/device/math.cuh has. The front "
     "end makes\n"
     "no others; IR from elsewhere may."},
    {"RNN0502", "too many scalars for a CUDA kernel",
     "The address and the strides of every scalar of a lane are parameters of the kernel, which "
     "have 32,764\n"
     "bytes. Use a smaller block (--dim), or the CPU."},
    {"RNN0503", "not possible on this CUDA architecture",
     "The chunks and steps that were asked for do not fit; without --chunk and --chunks the "
     "compiler "
     "chooses."},
    {"RNN0901", "never used", "A declaration or a value that nothing reads."},
    {"RNN0902", "the state never changes", "h[t] = h[t-1] carries the initial value for ever."},
};
} // namespace

const CodeText* rnnc::findCode(llvm::StringRef code) {
  for (const CodeText& entry : kCodes)
    if (code.equals_insensitive(entry.code))
      return &entry;
  return nullptr;
}

std::vector<const CodeText*> rnnc::allCodes() {
  std::vector<const CodeText*> codes;
  for (const CodeText& entry : kCodes)
    codes.push_back(&entry);
  return codes;
}
