"""Writes the states before the first step of Fibonacci's recurrence, and compares what came of it.

usage: delays.py draw|compare FILE
"""
import sys

sys.dont_write_bytecode = True
import npz

if sys.argv[1] == "draw":
    npz.write(sys.argv[2], {"f": ((1,), [8]), "f_back1": ((1,), [5])}, "f")
else:
    found = {name: list(numbers) for name, (_, numbers) in npz.read(sys.argv[2], "f").items()}
    assert [13, 21, 34, 55] in found.values(), found
