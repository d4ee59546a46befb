"""Runs every cell of examples/ on its stored arguments and compares with the stored results.

usage: values.py EXAMPLES FOLDER [NAME ...]     FOLDER: for what rnnc writes

In f32 as rnnc chooses the schedule, and in f64 in parallel wherever the cell has a Jacobian. Errors are relative,
|a - b| / (1 + |b|).
"""
import concurrent.futures
import json
import pathlib
import subprocess
import sys

from cells import CELLS

sys.path.append(str(pathlib.Path(__file__).parents[1] / "Execution" / "Inputs"))
import npz

INPUTS = pathlib.Path(__file__).parent / "Inputs"
ALLOWED = {"f32": 1e-5, "f64": 1e-10}


def rnnc(*arguments):
    done = subprocess.run(["rnnc", *map(str, arguments)], capture_output=True, text=True, timeout=100)
    if done.returncode:
        raise RuntimeError(f"rnnc {' '.join(map(str, arguments))}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


def distance(name, key, found, expected):
    """The largest relative error of one array."""
    if found[0] != expected[0]:
        raise RuntimeError(f"{name}: {key} has shape {found[0]}, not {expected[0]}")
    return max(abs(a - b) / (1 + abs(b)) if a == a else float("inf") for a, b in zip(found[1], expected[1], strict=True))


def compare(examples, folder, name, dtype):
    source, result = examples / f"{name}.rnn", folder / f"{name}.{dtype}.npz"
    result.unlink(missing_ok=True)
    options = ["--input", INPUTS / f"{name}.npz", "--output", result, "--dtype", dtype, "--json"]
    if dtype == "f64" and all(system.get("carry") for system in json.loads(rnnc("explain", source, "--json"))["systems"]):
        options += ["--schedule", "parallel", "--chunk", 4, "--chunks", 4]
    report = json.loads(rnnc("run", source, *options))
    found, expected = (npz.read(path, None) for path in (result, INPUTS / f"{name}.expected.npz"))
    if found.keys() != expected.keys():
        raise RuntimeError(f"{name}: results {sorted(found)}, expected {sorted(expected)}")
    far = {key: distance(name, key, found[key], expected[key]) for key in expected}
    worst = max(far, key=far.get)
    if far[worst] > ALLOWED[dtype]:
        raise RuntimeError(f"{name}, {dtype}: {worst} is off by {far[worst]:.1e}, {ALLOWED[dtype]:.0e} allowed")
    return f"ok {name:<18} {dtype} {report['schedule']:<10} {far[worst]:.1e}"


def main(examples, folder, names):
    examples, folder = pathlib.Path(examples), pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    present = {path.stem for path in examples.glob("*.rnn")}
    if present != set(CELLS):
        sys.exit(f"cells.py and {examples} differ: {sorted(present ^ set(CELLS))}")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(compare, examples, folder, name, dtype) for name in names or CELLS for dtype in ALLOWED]
        for run in runs:
            try:
                print(run.result())
            except Exception as error:
                failed += 1
                print("FAILED", error)
    print(f"{len(runs)} runs, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3], sys.argv[3:]))
