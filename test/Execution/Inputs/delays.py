"""Writes the states before the first step of Fibonacci's recurrence, and compares what came of it.

usage: delays.py draw|history|short|compare FILE     draw: an array a step; history: one for both; short: for one
"""
import sys

sys.dont_write_bytecode = True
import npz

if sys.argv[1] == "draw":
    npz.write(sys.argv[2], {"f": ((1,), [8]), "f_back1": ((1,), [5])}, "f")
elif sys.argv[1] == "history":
    npz.write(sys.argv[2], {"f": ((2, 1), [5, 8])}, "f")
elif sys.argv[1] == "short":
    npz.write(sys.argv[2], {"f": ((1, 1), [8])}, "f")
else:
    found = {name: list(numbers) for name, (_, numbers) in npz.read(sys.argv[2], "f").items()}
    assert [13, 21, 34, 55] in found.values(), found
