#!/usr/bin/env python3
"""Writes ../Coefficients.h. Needs mpmath, numpy and scipy; takes a minute or two."""

import pathlib

import mpmath as mp

import exp
import log
import trig
from minimax import literal

FAMILIES = (exp, log, trig)

HEAD = """\
//===- Coefficients.h - written by coefficients/generate.py, not by hand ===//
#pragma once

#include <cstdint>

namespace rnnc::vecmath {
"""


def main():
    lines = [HEAD]
    for family in FAMILIES:
        for name, meaning, values in family.constants():
            lines.append(f"// {meaning}")
            integers = isinstance(values[0], int)
            kind = "uint32_t" if integers else "double"
            lines.append(f"inline constexpr {kind} {name}[] = {{")
            row = "   "
            for value in values:
                item = f" {value:#010x}," if integers else f" {literal(value)},"
                if len(row + item) > 99:
                    lines.append(row)
                    row = "   "
                row += item
            lines.append(row.rstrip(",") + "};")
            lines.append("")
    lines.append("} // namespace rnnc::vecmath")
    target = pathlib.Path(__file__).resolve().parent.parent / "Coefficients.h"
    target.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
