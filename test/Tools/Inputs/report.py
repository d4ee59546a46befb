"""Fails unless the report on stdout and the one in the file are the same and have what they must."""
import json
import sys

stdout, file = (json.load(open(path)) for path in sys.argv[1:])
assert stdout == file, "the two reports differ"
assert stdout["cell"] == "Ema" and stdout["device"] == "cpu"
assert (stdout["batch"], stdout["time"], stdout["dims"]) == (8, 300, {"d": 256})
assert stdout["arrays"]["x"]["shape"] == [8, 300, 256]
assert stdout["schedule"] in ("sequential", "parallel") and stdout["converged"] is True
for key in ("vector", "tiles", "chunk", "chunks", "lanes", "width", "tolerance"):
    assert key in stdout["plan"], key
for key in ("tiles", "sweeps_mean", "sweeps_max", "lane_sweeps_mean", "mismatch_max"):
    assert key in stdout["report"], key
assert stdout["seconds"] > 0 and stdout["steps_per_second"] > 0
assert stdout["verify"]["largest_difference"] <= 1e-6
