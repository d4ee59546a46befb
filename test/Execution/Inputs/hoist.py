"""The cell Projected of hoist.rnn, written another way: draws its arguments, and compares what rnnc
made of them.

usage: hoist.py draw|compare FOLDER
"""
import math
import random
import sys

sys.dont_write_bytecode = True
import npz

B, T, D, M, P = 2, 40, 21, 17, 5
SHAPES = {"x": (B, T, M), "C": (P, D), "c": (P,)}
SHAPES |= {name: (D, M) for name in ("W_z", "W_r", "W_n")}
SHAPES |= {name: (D,) for name in ("a_z", "a_r", "a_n", "b")}


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def dot(row, vector):
    return math.fsum(a * b for a, b in zip(row, vector))


def rows(array, width):
    return [array[i : i + width] for i in range(0, len(array), width)]


def draw(folder):
    random.seed(11)
    size = lambda shape: math.prod(shape)
    npz.write(folder + "/in.npz",
              {name: (shape, [random.gauss(0, 0.4) for _ in range(size(shape))])
               for name, shape in SHAPES.items()})


def solve(given):
    weights = {name: rows(given[name][1], M) for name in ("W_z", "W_r", "W_n")}
    readout = rows(given["C"][1], D)
    a_z, a_r, a_n, b, c = (given[name][1] for name in ("a_z", "a_r", "a_n", "b", "c"))
    steps, states, outputs = rows(given["x"][1], M), [], []
    for element in range(B):
        h, before = [0.25] * D, [0.0] * M
        for t in range(T):
            x = steps[element * T + t]
            now = []
            for i in range(D):
                z = sigmoid(dot(weights["W_z"][i], x) + b[i] + a_z[i] * h[i])
                r = sigmoid(dot(weights["W_r"][i], x) + b[i] + a_r[i] * h[i])
                n = math.tanh(dot(weights["W_n"][i], before) + a_n[i] * r * h[i])
                now.append((1 - z) * h[i] + z * n)
            h, before = now, x
            states += h
            outputs += [dot(row, h) + shift for row, shift in zip(readout, c)]
    return states, outputs


def compare(folder):
    states, outputs = solve(npz.read(folder + "/in.npz"))
    made = npz.read(folder + "/out.npz")
    for name, expected in (("h", states), ("y", outputs)):
        worst = max(abs(a - b) for a, b in zip(made[name][1], expected, strict=True))
        assert worst < 1e-12, (name, worst)


if __name__ == "__main__":
    {"draw": draw, "compare": compare}[sys.argv[1]](sys.argv[2])
