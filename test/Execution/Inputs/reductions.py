"""Reductions of rows with NaN, infinities, ties and numbers beyond exp, as NumPy and SciPy define them.

reductions.py write FILE.npy     the rows, as one batch element
reductions.py compare FILE.npz   fails unless the outputs are theirs
"""
import math
import random
import sys

sys.dont_write_bytecode = True
import npz

nan, inf = math.nan, math.inf
random.seed(1)
ROWS = [[random.gauss(0, 1) for _ in range(5)],
        [1, 2, nan, 3, 4], [nan, 1, 2, 3, 4], [1, 2, 3, 4, nan],
        [inf, 1, 2, 3, 4], [1, 2, -inf, 3, 4], [-inf] * 5, [inf, 1, 2, 3, nan], [inf, -inf, 0, 0, 0],
        [300, 299, -300, 0, 1], [-1000, -1001, -1002, -1000, -1003], [2] * 5, [0] * 5]


def extreme(choose, row):
    return nan if any(map(math.isnan, row)) else choose(row)


def soft(row):
    most = extreme(max, row)
    if not math.isfinite(most):
        return most
    return most + math.log(sum(math.exp(v - most) for v in row))


def share(row):
    most = extreme(max, row)
    if not math.isfinite(most):
        return [nan] * len(row)
    weights = [math.exp(v - most) for v in row]
    return [w / sum(weights) for w in weights]


EXPECTED = {
    "largest": [extreme(max, row) for row in ROWS],
    "smallest": [extreme(min, row) for row in ROWS],
    "average": [sum(row) / len(row) for row in ROWS],
    "length": [math.sqrt(sum(v * v for v in row)) for row in ROWS],
    "soft": [soft(row) for row in ROWS],
    "share": [s for row in ROWS for s in share(row)],
}


def write(path):
    with open(path, "wb") as file:
        file.write(npz.npy((1, len(ROWS), 5), (v for row in ROWS for v in row), "f"))


def same(got, expected):
    if math.isnan(expected) or math.isinf(expected):
        return got == expected or (math.isnan(got) and math.isnan(expected))
    return abs(got - expected) <= 1e-6 * (1 + abs(expected))


def compare(path):
    arrays = npz.read(path, "f")
    for name, expected in EXPECTED.items():
        got = arrays[name][1]
        assert len(got) == len(expected), name
        for i, (g, e) in enumerate(zip(got, expected)):
            assert same(g, e), f"{name}[{i}] is {g}, not {e}"


{"write": write, "compare": compare}[sys.argv[1]](sys.argv[2])
