"""Fails unless a bench report has the keys that INTERFACES.md names, and they agree."""
import json
import sys

report = json.load(open(sys.argv[1]))
for side in (report, report["other"]):
    for key in ("schedule", "median_seconds", "p50_seconds", "p95_seconds", "p99_seconds",
                "steps_per_second", "plan"):
        assert key in side, key
    assert 0 < side["p50_seconds"] <= side["p95_seconds"] <= side["p99_seconds"]
    assert side["calls"] == 5
    steps = report["batch"] * report["time"] * report["dims"]["d"]
    assert abs(side["steps_per_second"] * side["median_seconds"] / steps - 1) < 1e-9
assert (report["schedule"], report["other"]["schedule"]) == ("parallel", "sequential")
assert report["dtype"] == "f32" and report["threads"] == 1
ratio = report["other"]["median_seconds"] / report["median_seconds"]
assert abs(report["parallel_over_sequential"] / ratio - 1) < 1e-9
