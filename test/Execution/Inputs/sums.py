"""Fails unless `z` is the sum of `h` over its last axis, bit for bit, first element first.

usage: sums.py ARRAYS.npz (float64, C order)
"""
import ast
import struct
import sys
import zipfile


def read(archive, name):
    data = archive.read(name + ".npy")
    length = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + length].decode())
    assert header["descr"] == "<f8" and not header["fortran_order"], header
    values = data[10 + length:]
    return header["shape"], struct.unpack(f"<{len(values) // 8}d", values)


with zipfile.ZipFile(sys.argv[1]) as archive:
    (batch, time, d), h = read(archive, "h")
    shape, z = read(archive, "z")
assert shape == (batch, time) and time > 0 and any(h), (shape, batch, time)
for i, got in enumerate(z):
    want = h[i * d]
    for value in h[i * d + 1:(i + 1) * d]:
        want += value
    assert got == want, (i, got, want)
