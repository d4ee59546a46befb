"""Fails unless `z` is the sum of `h` over its last axis, bit for bit, first element first.

usage: sums.py ARRAYS.npz (float64, C order)
"""
import sys

sys.dont_write_bytecode = True
import npz

arrays = npz.read(sys.argv[1])
((batch, time, d), h), (shape, z) = arrays["h"], arrays["z"]
assert shape == (batch, time) and time > 0 and any(h), (shape, batch, time)
for i, got in enumerate(z):
    want = h[i * d]
    for value in h[i * d + 1:(i + 1) * d]:
        want += value
    assert got == want, (i, got, want)
