"""Draws the arguments of the dense GRU for 40 batch elements and for the first 3 of them, and
compares the results byte for byte.

usage: dense.py draw|compare FOLDER
"""
import array
import math
import random
import sys

sys.dont_write_bytecode = True
import npz

MANY, FEW, TIME, D, M = 40, 3, 21, 29, 5


def draw(folder):
    random.seed(7)
    normal = lambda *shape: (shape, array.array("f", [random.gauss(0, 0.3) for _ in range(math.prod(shape))]))
    params = {name: normal(D, M) for name in ("W_z", "W_r", "W_n")}
    params |= {name: normal(D, D) for name in ("U_z", "U_r", "U_n")}
    params |= {"b": normal(D), "scale": normal()}
    npz.write(folder + "/params.npz", params, "f")
    x = normal(MANY, TIME, M)[1]
    npz.write(folder + "/many.npz", {"x": ((MANY, TIME, M), x)}, "f")
    npz.write(folder + "/few.npz", {"x": ((FEW, TIME, M), x[: FEW * TIME * M])}, "f")


def compare(folder):
    many, few = (npz.read(f"{folder}/{name}-out.npz", "f") for name in ("many", "few"))
    assert few and few.keys() == many.keys(), (few.keys(), many.keys())
    for name, (shape, numbers) in few.items():
        data = numbers.tobytes()
        assert shape[0] == FEW and many[name][0] == (MANY,) + shape[1:], (name, shape)
        assert any(data) and many[name][1].tobytes().startswith(data), name


if __name__ == "__main__":
    {"draw": draw, "compare": compare}[sys.argv[1]](sys.argv[2])
