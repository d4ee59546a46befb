"""Reads a report of `rnnc run --json` and fails where sweeps are above a bound.

usage: sweeps.py BOUND LEAST < report

BOUND: the largest allowed mean, over lanes and tiles, of the sweep at which a lane first agreed.
LEAST: what that mean is at least where the test is a real one (a solve that was sequential has 0).
"""
import json
import sys

bound, least = float(sys.argv[1]), float(sys.argv[2])
report = json.load(sys.stdin)["report"]
mean = report["lane_sweeps_mean"]
print(f"a lane agreed after {mean:.3f} sweeps; {least} to {bound} allowed")
sys.exit(not least <= mean <= bound)
