"""Inputs of which one lane has no solution, or is no number, and what comes of the lanes beside it.

usage: implicit_lanes.py draw|nan|compare FILE
"""
import array
import math
import sys

sys.dont_write_bytecode = True
import npz

BATCH, TIME, D = 2, 97, 3


def inputs(special, lane, steps):
    """Small numbers; `special` for (batch element, d) at some steps."""
    x = array.array("f", [0.1 * math.sin(i) for i in range(BATCH * TIME * D)])
    for t in steps:
        x[(lane[0] * TIME + t) * D + lane[1]] = special
    return {"x": ((BATCH, TIME, D), x)}


if sys.argv[1] == "draw":
    # h = 0.1 h' + h^2 + x has a solution for x below 1/4 or so; a later one must not be told.
    arrays = inputs(0.5, (1, 2), [70, 80])
    arrays["x"][1][(0 * TIME + 75) * D] = 0.6
    npz.write(sys.argv[2], arrays, "f")
elif sys.argv[1] == "nan":
    npz.write(sys.argv[2], inputs(math.nan, (0, 1), [31]), "f")
else:
    # h[t] reads no earlier step: only step 31 of that lane is no number, not its neighbours.
    h = npz.read(sys.argv[2], "f")["h"][1]
    bad = [i for i, x in enumerate(h) if math.isnan(x)]
    assert bad == [31 * D + 1], bad
    x = inputs(0, (0, 0), [])["x"][1]
    assert all(abs(u - (0.5 * math.cos(u) + x[i])) < 1e-6 for i, u in enumerate(h) if i not in bad)
