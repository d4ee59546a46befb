"""Compiles generated cells of many equations and four states, and prints seconds and memory.

usage: large_cell.py RNNC FOLDER
"""
import os
import random
import subprocess
import sys
import time

STATES = "abce"


def cell(equations, seed=1):
    """Every equation reads earlier ones, and now and then a state, an input or a param."""
    draw = random.Random(seed)
    lines = ["cell Large {", "  dim d", "  input x, y : [d]", "  param p, q : [d]"]
    lines += [f"  state {state} : [d] = 0" for state in STATES]
    names = ["x[t]", "y[t]", "p", "q"] + [f"{state}[t-1]" for state in STATES]
    for i in range(equations - len(STATES)):
        left, right, other = (draw.choice(names[-24:]) for _ in range(3))
        form = draw.choice(("tanh({} * {} + {})", "sigmoid({} - {}) * {}", "{} * {} + 0.5 * {}", "({} + {}) * tanh({})"))
        lines.append(f"  v{i} = 0.5 * (" + form.format(left, right, other) + f") + 0.3 * {names[-1]}")
        names.append(f"v{i}")
        if i % 16 == 0:
            names.append(draw.choice(STATES) + "[t-1]")
    for i, state in enumerate(STATES):
        lines.append(f"  {state}[t] = 0.5 * {state}[t-1] + 0.1 * tanh({names[-1 - 7 * i]})")
    return "\n".join(lines) + "\n}\n"


def measure(command):
    start = time.monotonic()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(command)}: exit status {child.returncode}")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e6


def main():
    rnnc, folder = sys.argv[1:]
    for equations in (500, 1000, 2000):
        path = os.path.join(folder, f"large-{equations}.rnn")
        with open(path, "w") as file:
            file.write(cell(equations))
        for schedule in ("sequential", "parallel"):
            took, cpu, gigabytes = measure([rnnc, "run", path, "--batch", "1", "--time", "64", "--dim", "d=16", "--schedule", schedule])
            goal = "   (goal: 5 s and 2 GB)" if equations == 2000 else ""
            print(f"{f'{equations} equations, 4 states, {schedule}':<58} {took:6.2f} s, {cpu:.2f} s of CPU, {gigabytes:.2f} GB{goal}")


if __name__ == "__main__":
    main()
