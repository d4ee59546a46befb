"""Draws the arguments of complex.rnn's cells, and compares their results with the equations in
Python's complex numbers.

usage: complex.py draw|compare FOLDER
"""
import array
import cmath
import math
import random
import struct
import sys

sys.dont_write_bytecode = True
import dense

BATCH, TIME, N = 2, 12, 3
SHAPES = {  # of complex arrays, and of real ones
    "Lru": ({"u": (BATCH, TIME, N)}, {"nu": (N,), "theta": (N,)}),
    "Every": ({"u": (BATCH, TIME, N), "w": (N,)}, {"x": (BATCH, TIME, N)}),
    "Matrix": ({"W": (2, 2)}, {"x": (BATCH, TIME, 2)}),
}


def load(path):
    arrays = {}
    for name, (shape, data) in dense.read(path).items():
        numbers = struct.unpack(f"<{len(data) // 4}f", data)
        if len(numbers) == 2 * math.prod(shape):
            numbers = [complex(*numbers[i:i + 2]) for i in range(0, len(numbers), 2)]
        arrays[name] = list(numbers)
    return arrays


def near(got, want, where):
    assert abs(got - want) <= 2e-5 * (1 + abs(want)), (where, got, want)


def lru(given, got):
    for b in range(BATCH):
        for i in range(N):
            s = 0j
            eigen = cmath.exp(complex(-math.exp(given["nu"][i]), math.exp(given["theta"][i])))
            for t in range(TIME):
                at = (b * TIME + t) * N + i
                s = eigen * s + math.sqrt(1 - abs(eigen) ** 2) * given["u"][at]
                near(got["s"][at], s, ("s", at))


def every(given, got):
    for b in range(BATCH):
        for i in range(N):
            s, w = 0j, given["w"][i]
            for t in range(TIME):
                at = (b * TIME + t) * N + i
                x = given["x"][at]
                z = s / (2 + w) + 0.5 * given["u"][at].conjugate()
                q = cmath.exp(0.1 * (z if x > 0 else -z)) - 1
                s = 0.4 * (q ** 2 + complex(x, 1) / (q + 3) - x)
                near(got["s"][at], s, ("s", at))
                near(got["y"][at], (s + 2) ** -2, ("y", at))
                near(got["r"][at], abs(s) + cmath.phase(s + 2) + s.real - s.imag, ("r", at))


def matrix(given, got):
    W = given["W"]
    for b in range(BATCH):
        s = [0j, 0j]
        for t in range(TIME):
            at = b * TIME + t
            x = given["x"][2 * at:2 * at + 2]
            joined = [s[1], x[0]]
            s = [0.3 * (W[i] * joined[0] + W[2 + i] * joined[1]) + x[i] for i in range(2)]
            for i in range(2):
                near(got["s"][2 * at + i], s[i], ("s", at, i))
            near(got["y"][at], (s[0] + s[1]) * (s[0] * x[1] + s[1] * x[1]) / 2, ("y", at))


folder = sys.argv[2]
for cell, (pairs, reals) in SHAPES.items():
    normal = lambda count: array.array("f", [random.gauss(0, 0.5) for _ in range(count)])
    if sys.argv[1] == "draw":
        random.seed(cell)
        arrays = {name: (shape, normal(2 * math.prod(shape)), "<c8") for name, shape in pairs.items()}
        arrays |= {name: (shape, normal(math.prod(shape))) for name, shape in reals.items()}
        dense.write(f"{folder}/{cell}.npz", arrays)
    else:
        check = {"Lru": lru, "Every": every, "Matrix": matrix}[cell]
        check(load(f"{folder}/{cell}.npz"), load(f"{folder}/{cell}-out.npz"))
