"""Linear recurrences that contract: 2.1 shoots a lane at most, on the average, at a tolerance of 1e-5 in f32.

usage: linear.py EXAMPLES
"""
import json
import pathlib
import sys

from cells import CELLS
from table import SHAPE
from values import rnnc

MOST = 2.1


def main(examples):
    failed, linear = 0, 0
    for name, cell in CELLS.items():
        source = pathlib.Path(examples) / f"{name}.rnn"
        systems = json.loads(rnnc("explain", source, "--json"))["systems"]
        if not all(system.get("linear") and system["carry"] for system in systems):
            continue
        report = json.loads(rnnc("run", source, "--json", *SHAPE, *cell.measure, "--tolerance", "1e-5"))["report"]
        shoots = max(report["sweeps_mean"], report["lane_sweeps_mean"])
        print("ok" if shoots <= MOST else "FAILED", f"{name:<18} {shoots:.2f}")
        failed, linear = failed + (shoots > MOST), linear + 1
    print(f"{linear} linear cells, {failed} failed")
    return failed > 0 or linear < 4


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
