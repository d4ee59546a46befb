"""Draws the arguments of two cells of arrays.rnn, and compares their results with the equations in
plain loops, element by element.

usage: arrays.py draw|compare FOLDER
"""
import math
import random
import sys

sys.dont_write_bytecode = True
import npz

BATCH, TIME, D, K, HEADS, M = 2, 9, 3, 4, 3, 2
SHAPES = {
    "rotated": {"x": (BATCH, TIME, D, K), "g": (K,)},
    "memory": {**{name: (BATCH, TIME, HEADS, M) for name in ("query", "key", "v")},
               **{name: (BATCH, TIME, HEADS, 1) for name in ("i", "f")}},
}


def nested(shape, numbers):
    """Row-major numbers as nested lists."""
    if not shape:
        return numbers[0]
    step = len(numbers) // shape[0]
    return [nested(shape[1:], numbers[i * step:(i + 1) * step]) for i in range(shape[0])]


def load(path):
    return {name: nested(shape, numbers) for name, (shape, numbers) in npz.read(path, "f").items()}


def near(got, want, where):
    assert abs(got - want) <= 1e-5 * (1 + abs(want)), (where, got, want)


def rotated(given, got):
    g = given["g"]
    for b in range(BATCH):
        h = [[0.0] * K for _ in range(D)]
        for t in range(TIME):
            x = given["x"][b][t]
            new = [[0.0] * K for _ in range(D)]
            for d in range(D):
                turned = [-h[d][2], -h[d][3], h[d][0], h[d][1]]
                for k in range(K):
                    new[d][k] = math.tanh(0.5 * g[k] * turned[k] + x[d][k] + 0.1 * h[d][3] * g[k])
                    near(got["h"][b][t][d][k], new[d][k], ("h", b, t, d, k))
            h = new
            for d in range(D):
                for i in range(K):
                    for j in range(K):
                        near(got["square"][b][t][d][i][j], h[d][j] * h[d][i], ("square", b, t, d, i, j))


def memory(given, got):
    for b in range(BATCH):
        for head in range(HEADS):
            C, m = [[0.0] * M for _ in range(M)], [0.0] * M
            for t in range(TIME):
                query, key, v = (given[name][b][t][head] for name in ("query", "key", "v"))
                forget = 1 / (1 + math.exp(-given["f"][b][t][head][0]))
                keep = math.exp(given["i"][b][t][head][0] - 1)
                for i in range(M):
                    for j in range(M):
                        C[i][j] = forget * C[i][j] + keep * v[i] * key[j]
                        near(got["C"][b][t][head][i][j], C[i][j], ("C", b, t, head, i, j))
                    m[i] = forget * m[i] + keep * key[i]
                size = max(abs(sum(m[i] * query[i] for i in range(M))), 1)
                for i in range(M):
                    want = sum(C[i][j] * query[j] for j in range(M)) / size
                    near(got["y"][b][t][head][i], want, ("y", b, t, head, i))


folder = sys.argv[2]
for cell, shapes in SHAPES.items():
    if sys.argv[1] == "draw":
        random.seed(cell)
        npz.write(f"{folder}/{cell}.npz", {
            name: (shape, [random.gauss(0, 1) for _ in range(math.prod(shape))])
            for name, shape in shapes.items()}, "f")
    else:
        {"rotated": rotated, "memory": memory}[cell](load(f"{folder}/{cell}.npz"), load(f"{folder}/{cell}-out.npz"))
