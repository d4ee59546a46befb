"""Draws the arguments of the dense GRU for 40 batch elements and for the first 3 of them, and
compares the results byte for byte. NumPy's file format, written and read without NumPy.

usage: dense.py draw|compare FOLDER
"""
import array
import ast
import random
import struct
import sys
import zipfile

MANY, FEW, TIME, D, M = 40, 3, 21, 29, 5


def npy(shape, numbers, kind="<f4"):
    header = repr({"descr": kind, "fortran_order": False, "shape": shape})
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + numbers.tobytes()


def write(path, arrays):
    with zipfile.ZipFile(path, "w") as file:
        for name, array in arrays.items():
            file.writestr(name + ".npy", npy(*array))


def read(path):
    arrays = {}
    with zipfile.ZipFile(path) as file:
        for name in file.namelist():
            data = file.read(name)
            length = struct.unpack("<H", data[8:10])[0]
            header = ast.literal_eval(data[10 : 10 + length].decode())
            assert header["descr"] in ("<f4", "<c8") and not header["fortran_order"]
            arrays[name.removesuffix(".npy")] = (header["shape"], data[10 + length :])
    return arrays


def draw(folder):
    random.seed(7)
    normal = lambda *shape: (shape, array.array("f", [random.gauss(0, 0.3) for _ in range(count(shape))]))
    params = {name: normal(D, M) for name in ("W_z", "W_r", "W_n")}
    params |= {name: normal(D, D) for name in ("U_z", "U_r", "U_n")}
    params |= {"b": normal(D), "scale": normal()}
    write(folder + "/params.npz", params)
    x = normal(MANY, TIME, M)[1]
    write(folder + "/many.npz", {"x": ((MANY, TIME, M), x)})
    write(folder + "/few.npz", {"x": ((FEW, TIME, M), x[: FEW * TIME * M])})


def count(shape):
    product = 1
    for size in shape:
        product *= size
    return product


def compare(folder):
    many, few = read(folder + "/many-out.npz"), read(folder + "/few-out.npz")
    assert few and few.keys() == many.keys(), (few.keys(), many.keys())
    for name, (shape, data) in few.items():
        assert shape[0] == FEW and many[name][0] == (MANY,) + shape[1:], (name, shape)
        assert any(data) and many[name][1].startswith(data), name


if __name__ == "__main__":
    {"draw": draw, "compare": compare}[sys.argv[1]](sys.argv[2])
