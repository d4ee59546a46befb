"""Fails unless two .npz files hold the same arrays within a distance of 1 + |value|.

usage: close.py DISTANCE A.npz B.npz
"""
import ast
import math
import struct
import sys
import zipfile


def arrays(path):
    found = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            (length,) = struct.unpack("<H", data[8:10])
            head = ast.literal_eval(data[10:10 + length].decode())
            kind = {"<f4": "f", "<f8": "d"}[head["descr"]]
            values = data[10 + length:]
            count = len(values) // struct.calcsize(kind)
            found[name] = (head["shape"], struct.unpack(f"<{count}{kind}", values))
    return found


distance, a, b = float(sys.argv[1]), arrays(sys.argv[2]), arrays(sys.argv[3])
assert a.keys() == b.keys(), (a.keys(), b.keys())
for name, (shape, values) in a.items():
    other_shape, others = b[name]
    assert shape == other_shape and len(values) > 0, (name, shape, other_shape)
    worst = max(abs(x - y) / (1 + abs(y)) if math.isfinite(x) else math.inf
                for x, y in zip(values, others))
    assert worst <= distance, f"{name}: {worst} apart"
    assert any(x != values[0] for x in values), f"{name} is all {values[0]}"
