#!/usr/bin/env python3
"""Writes runtime/device/math_coefficients.cuh, which the CPU's vector math and the GPU's math share.

Needs mpmath, numpy and scipy; takes three minutes; then clang-format it.
"""

import pathlib

import mpmath as mp

import erf
import exp
import inverse
import log
import trig
from minimax import literal

FAMILIES = (exp, log, trig, inverse, erf)

HEAD = """\
// Constants of the elementary functions. Written by generate.py (VectorMath/coefficients).
//
// The CPU's vector math takes them from here too. Functions, not arrays: what a kernel folds into its
// instructions leaves no array behind in its PTX.
#pragma once

namespace rnn::coefficients {

template <class T, int n>
struct list {
  enum { size = n };
  T at[n];
  constexpr T operator[](int i) const { return at[i]; }
};
"""


def main():
    lines = [HEAD]
    for family in FAMILIES:
        for name, meaning, values in family.constants():
            lines.append(f"// {meaning}")
            integers = isinstance(values[0], int)
            kind = "unsigned int" if integers else "double"
            lines.append(f"constexpr list<{kind}, {len(values)}> {name}() {{")
            row = "  return {{"
            for value in values:
                item = f"{value:#010x}, " if integers else f"{literal(value)}, "
                if len(row + item) > 99:
                    lines.append(row.rstrip())
                    row = "           "
                row += item
            lines.append(row.rstrip(", ") + "}};")
            lines.append("}")
            lines.append("")
    lines.append("} // namespace rnn::coefficients")
    root = pathlib.Path(__file__).resolve().parents[5]
    target = root / "runtime" / "device" / "math_coefficients.cuh"
    target.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
