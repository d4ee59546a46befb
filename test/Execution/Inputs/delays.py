"""Writes the states before the first step of Fibonacci's recurrence, and compares what came of it.

usage: delays.py draw|compare FILE
"""
import array
import struct
import sys

sys.dont_write_bytecode = True
import dense

if sys.argv[1] == "draw":
    dense.write(sys.argv[2], {name: ((1,), array.array("f", [value])) for name, value in (("f", 8), ("f_back1", 5))})
else:
    found = {name: list(struct.unpack(f"<{len(data) // 4}f", data)) for name, (_, data) in dense.read(sys.argv[2]).items()}
    assert [13, 21, 34, 55] in found.values(), found
