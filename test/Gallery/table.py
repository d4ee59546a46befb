"""Keeps the tables of docs/gallery.md: what rnnc derives of every cell, and the sweeps that it takes.

usage: table.py EXAMPLES DOCUMENT           fails where the document is not current
       table.py EXAMPLES DOCUMENT --write   brings it up to date

What is derived must be the same word for word. Sweeps may differ a little: other processors round otherwise.
"""
import concurrent.futures
import itertools
import json
import pathlib
import re
import sys

from cells import CELLS
from values import rnnc

BEGIN, END = "<!-- tables: test/Gallery/table.py -->\n", "<!-- end of tables -->\n"
SHAPE = ("--batch", "4", "--time", "4096", "--schedule", "parallel", "--vector", "lanes", "--tiles", "sequence",
         "--chunk", "32", "--chunks", "16")
HEAD = ("| cell | states a lane | Jacobian | carry | linear | sweeps | at tolerance 0 |\n"
        "|---|---|---|---|---|---|---|\n")


def joined(texts):
    """Equal neighbours once."""
    return ", then ".join(text for text, _ in itertools.groupby(texts))


def sweeps(source, options):
    report = json.loads(rnnc("run", source, "--json", *SHAPE, *options))["report"]
    return f"{report['lane_sweeps_mean']:.1f}"


def row(examples, name):
    cell, source = CELLS[name], examples / f"{name}.rnn"
    systems = json.loads(rnnc("explain", source, "--json"))["systems"]
    parallel = all(system.get("carry") for system in systems)
    columns = [f"[{cell.note}](../examples/{name}.rnn)",
               joined("all" if not system.get("carry") and system["structure"] == "dense" else str(len(system["states"]))
                      for system in systems),
               joined(re.sub(r" \(.*\)|:.*", "", system["structure"]) + (", constant" if system.get("constant") else "")
                      for system in systems),
               joined(str(system.get("carry") or "-") for system in systems),
               joined("yes" if system.get("linear") else "no" for system in systems)]
    for tolerance in ((), ("--tolerance", "0")):
        columns.append(sweeps(source, cell.measure + tolerance) if parallel else "sequential")
    return f"| {' | '.join(columns)} |\n"


def tables(examples):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        rows = dict(zip(CELLS, pool.map(lambda name: row(examples, name), CELLS)))
    text = ""
    for family in dict.fromkeys(cell.family for cell in CELLS.values()):
        text += f"\n### {family}\n\n{HEAD}" + "".join(rows[name] for name, cell in CELLS.items() if cell.family == family)
    return text + "\n"


def current(found, expected):
    """Equal but for sweeps that are near each other."""
    numbers = [[float(n) for n in re.findall(r"\b\d+\.\d\b", text)] for text in (found, expected)]
    words = [re.sub(r"\b\d+\.\d\b", "N", text) for text in (found, expected)]
    return words[0] == words[1] and all(abs(a - b) <= 0.2 + 0.05 * b for a, b in zip(*numbers, strict=True))


def main(examples, document, mode=None):
    path = pathlib.Path(document)
    before, rest = path.read_text().split(BEGIN)
    old, after = rest.split(END)
    new = tables(pathlib.Path(examples))
    if mode == "--write":
        path.write_text(before + BEGIN + new + END + after)
        return 0
    stale = [(a, b) for a, b in itertools.zip_longest(old.splitlines(), new.splitlines(), fillvalue="")
             if not current(a, b)]
    for was, now in stale:
        print(f"{document}: is not current:\n- {was}\n+ {now}")
    print(f"{len(CELLS)} cells, {len(stale)} lines not current")
    return len(stale) > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
