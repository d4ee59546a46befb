"""Writes Inputs/NAME.npz, the arguments of every cell, and Inputs/NAME.expected.npz, the right results.

usage: make.py [NAME ...]

The results come from reference/, which has nothing of rnnc in it. Needs NumPy, SciPy, PyTorch and mpmath; the tests need
only what it wrote.
"""
import pathlib
import sys

import numpy as np

from cells import CELLS
from reference import dense, linear, nonlinear
from reference.draw import Draw

FOLDER = pathlib.Path(__file__).parent / "Inputs"
MOST = 12_000  # bytes of a file


def reference(name):
    return next(getattr(module, name) for module in (dense, linear, nonlinear) if name in vars(module))


def write(path, arrays):
    np.savez_compressed(path, **arrays)
    assert path.stat().st_size <= MOST, f"{path} has {path.stat().st_size} bytes"


def make(name):
    given, expected = reference(name)(Draw(name), CELLS[name].time)
    for key, value in expected.items():
        assert np.isfinite(value).all() and np.ptp(np.abs(value)) > 0, f"{name}: {key}"
    write(FOLDER / f"{name}.npz", given)
    write(FOLDER / f"{name}.expected.npz", expected)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or CELLS:
        make(name)
