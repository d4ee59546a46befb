"""Writes the params that states begin as, and initial states of a caller's; compares what came of them.

usage: starts.py draw|compare|given|compare-given FILE
"""
import sys

sys.dont_write_bytecode = True
import npz

V, R, GIVEN = [1, 2, 4], [8, -8], [3, 5, 7, 9, 11, 13]


def near(found, expected):
    assert len(found) == len(expected) and all(abs(f - e) < 1e-6 for f, e in zip(found, expected)), (found, expected)


what, path = sys.argv[1:]
if what == "draw":
    npz.write(path, {"v0": ((3,), V), "r0": ((2, 1), R)}, "f")
elif what == "given":
    npz.write(path, {"v": ((2, 2, 3), GIVEN + GIVEN)}, "f")
else:
    arrays = npz.read(path, "f")
    start = (V + V) * 2 if what == "compare" else GIVEN * 2
    steps = lambda batch, factor: [x * factor for x in start[batch * 6 : batch * 6 + 6]]
    sequence = next(values for name, (shape, values) in arrays.items() if name.startswith("v") and shape == (2, 3, 2, 3))
    near(sequence, [x for batch in range(2) for t in range(3) for x in steps(batch, 0.5 ** (t + 1))])
    sequence = next(values for name, (shape, values) in arrays.items() if name.startswith("r") and shape == (2, 3, 2, 3))
    r = [R[0]] * 3 + [R[1]] * 3
    expected = []
    for t in range(3):
        r = [0.25 * x + 1 for x in r]
        expected += r
    near(sequence, expected * 2)
