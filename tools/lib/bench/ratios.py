"""Prints the ratios of what tools/bench measured."""

import json
import statistics
import sys
from pathlib import Path

out = Path(sys.argv[1])


def seconds(name):
    return json.loads((out / f"{name}.json").read_text())["median_seconds"]


def show(title, numerator, denominator, goal):
    ratio = seconds(numerator) / seconds(denominator)
    print(f"{title:<58} {ratio:6.2f} x   (goal: {goal})")


print()
for name in ("narrow-by-hand", "narrow-sequential", "narrow-parallel", "wide-by-hand",
             "wide-sequential", "wide-auto"):
    print(f"{name:<58} {1e3 * seconds(name):9.3f} ms")
print()
show("one channel: parallel faster than sequential by", "narrow-sequential", "narrow-parallel",
     "3")
show("one channel: sequential faster than by hand by", "narrow-by-hand", "narrow-sequential", "1")
show("width 4096: faster than by hand by", "wide-by-hand", "wide-auto", "8")
if (out / "projected-numpy.json").exists():
    both = seconds("projected-numpy") + seconds("projected-kernel")
    print(f"{'projections and solve: of NumPy product + bare kernel':<58} "
          f"{seconds('projected') / both:6.2f} x   (goal: 1)")
else:
    print("no NumPy for /usr/bin/python3: the projections are not compared with its product")
product = seconds("projected") - seconds("projected-kernel")
print(f"{'the projections alone, 12.9 GFlop':<58} {1e3 * product:9.3f} ms, "
      f"{12.885 / product:.0f} GFlop/s")
times = [line.split() for line in (out / "cold.times").read_text().splitlines()]
cold = statistics.median(float(end) - float(start) for start, end in times)
print(f"{'cold rnnc run, from start to end of the process':<58} {1e3 * cold:6.0f} ms  "
      "(goal: 200 ms to the first kernel call)")

nvrtc = out / "nvrtc.times"
if nvrtc.exists():
    print()
    taken = {}
    for line in nvrtc.read_text().splitlines():
        example, number, unit = line.split()
        taken.setdefault(example, []).append(float(number) * (1 if unit == "ms" else 1000))
    for example, times in taken.items():
        print(f"{'NVRTC, ' + example:<58} {statistics.median(times):6.0f} ms  (goal: 1000 ms)")
