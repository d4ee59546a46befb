"""Makes the folder that tools/gpu builds and runs where there is a GPU and nothing of ours: the runtime's sources,
tests and benches, modules that rnnc built, arrays, and what the interpreter makes of them.

usage: prepare.py ROOT RNNC FOLDER [--cells NAME,...]
"""
import argparse
import ctypes
import json
import pathlib
import random
import shutil
import struct
import subprocess
import sys

MOST_BYTES = 50 << 20
FMT, GOOGLETEST = pathlib.Path("/usr/include/fmt"), pathlib.Path("/usr/src/googletest/googletest")
RUNTIME = ("core", "cpu", "cuda", "data", "device", "include")
# What the CPU's part needs and no other.
LEFT_OUT = {"cpu": ("absent.cpp", "arena.hpp", "forward.hpp", "stream.hpp")}

# Cells without products over all steps: sizes, how arrays are drawn, and steps for those that do not contract.
CELLS = {
    "paragru": ({"d": 33}, {}, 0),
    "paralstm": ({"d": 33}, {}, 0),
    "ema": ({"d": 33}, {"a": (0.8, 0.99)}, 0),
    "sru": ({"d": 33}, {}, 0),
    "rglru": ({"d": 33}, {"L": (2, 6)}, 0),
    "mlstm_sig": ({"k": 4, "d": 9}, {"b_f": (1, 3)}, 0),
    "elman_heads": ({"heads": 9}, {}, 0),
    "biquad": ({"channels": 9}, {"a_1": (-1.2, -0.8), "a_2": (0.5, 0.8)}, 0),
    "svf": ({"channels": 9}, {"cutoff": (0.05, 0.2), "damping": (0.5, 1.5)}, 0),
    "moog_ladder": ({"channels": 9}, {"cutoff": (0.2, 0.3), "resonance": (0.4, 0.7)}, 0),
    "diode_clipper": ({"channels": 9}, {"x": (-5, 5)}, 0),
    "compressor": ({"channels": 9}, {"x": (-45, 0)}, 0),
    "garch": ({"series": 33}, {"omega": (0.05, 0.2), "alpha": (0.05, 0.15), "beta": (0.5, 0.8)}, 0),
    "lif": ({"n": 33}, {"current": (1, 3)}, 24),
    "fitzhugh_nagumo": ({"n": 33}, {"current": (0.2, 0.8)}, 8),
    "van_der_pol": ({"n": 33}, {}, 8),
    "lorenz": ({"n": 33}, {}, 8),
    "henon": ({"n": 33}, {"noise": (-0.001, 0.001)}, 8),
    "logistic_map": ({"n": 33}, {}, 6),
}
BEGUN = {"paragru", "paralstm", "ema"}  # with states before the first step
BATCH, TIME = 3, 1000  # neither a whole number of tiles
BOUNDS = {"f32": 1e-5, "f64": 1e-12}
BENCHES = """\
ema_f32 d 8 4096 1024
ema_f32 d 1 65536 512
paragru_f32 d 1 4096 256
paragru_f32 d 8 4096 1024
paragru_f32 d 32 1024 2048
paragru_f32 d 1 65536 512
paragru_f64 d 8 4096 1024
paralstm_f32 d 8 4096 1024
paralstm_f32 d 1 65536 512
"""
FEW_BENCHES = "{}_f32 d 2 300 40\n"


def copied(root, folder):
    """The runtime with what builds it, and the tests beside it."""
    source, test = folder / "source", folder / "test"
    for part in RUNTIME:
        chosen = LEFT_OUT.get(part)
        shutil.copytree(root / "runtime" / part, source / "runtime" / part,
                        ignore=lambda _, names, chosen=chosen: [n for n in names if chosen and n not in chosen])
    shutil.copytree(root / "cmake", source / "cmake")
    for name in ("CMakeLists.txt", "runtime/CMakeLists.txt", "LICENSE"):
        shutil.copy(root / name, source / name)
    shutil.copytree(root / "test/gpu", test, ignore=shutil.ignore_patterns("prepare*", "*.test"))
    shutil.copy(root / "test/gpu/prepared.cmake", folder / "CMakeLists.txt")
    shutil.copy(root / "tools/gpu", folder / "gpu")
    shutil.copytree(FMT, folder / "fmt/fmt")
    for part in ("include", "src", "cmake", "CMakeLists.txt"):
        (shutil.copytree if (GOOGLETEST / part).is_dir() else shutil.copy)(GOOGLETEST / part, ensure(folder / "googletest") / part)


def ensure(path):
    path.mkdir(parents=True, exist_ok=True)
    return path


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def write_npy(path, shape, values, kind):
    """Format 1.0 of NumPy's, which this program does without."""
    code = {"f32": ("<f4", "f"), "f64": ("<f8", "d")}[kind]
    sizes = "".join(f"{n}, " for n in shape)
    text = f"{{'descr': '{code[0]}', 'fortran_order': False, 'shape': ({sizes}), }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() +
                     struct.pack(f"<{len(values)}{code[1]}", *values))


class Bundle(ctypes.Structure):
    """rnn_module_bundle of rnn/module.h, as far as it is read."""
    _fields_ = [("abi_version", ctypes.c_uint32), ("size", ctypes.c_uint32), ("cell", ctypes.c_char_p),
                ("manifest", ctypes.c_char_p)]


def manifest_of(module):
    return json.loads(Bundle.in_dll(ctypes.CDLL(str(module)), "rnn_bundle").manifest)


def count(shape):
    product = 1
    for size in shape:
        product *= size
    return product


def case(rnnc, file, name, kind, folder):
    """Arrays that are drawn, and what the interpreter makes of them."""
    dims, ranges, steps = CELLS[name]
    time = steps or TIME
    here = ensure(folder / "cases" / f"{name}_{kind}")
    manifest = manifest_of(folder / "modules" / f"{name}_{kind}.so")
    lines = [f"module {name}_{kind}", f"dtype {kind}", f"batch {BATCH}", f"time {time}", f"bound {BOUNDS[kind]}"]
    lines += [f"dim {dim} {size}" for dim, size in dims.items()]
    command = [rnnc, "run", file, "--device", "interpreter", "--dtype", kind, "--batch", BATCH, "--time", time]
    for dim, size in dims.items():
        command += ["--dim", f"{dim}={size}"]
    draw = random.Random(f"{name} {kind}")
    for tensor in manifest["tensors"]:
        label, role = tensor["name"], tensor["role"]
        shape = [dims[dim] if size is None else size for dim, size in zip(tensor["dims"], tensor["sizes"])]
        if role in ("input", "param"):
            shape = [BATCH, time] + shape if role == "input" else shape
            low, high = ranges.get(label, (None, None))
            values = [draw.gauss(0, 0.3) if low is None else draw.uniform(low, high) for _ in range(count(shape))]
            write_npy(here / f"{label}.npy", shape, values, kind)
            command += ["--input", f"{label}={here / label}.npy"]
            lines.append(f"{role} {label} {label}.npy")
        if role == "state" and name in BEGUN:
            values = [draw.gauss(0, 0.3) for _ in range(BATCH * count(shape))]
            write_npy(here / f"{label}.before.npy", [BATCH] + shape, values, kind)
            command += ["--input", f"{label}={here / label}.before.npy"]
            lines.append(f"initial {label} {label}.before.npy")
        if role == "output" or (role == "state" and not tensor.get("hidden")):
            command += ["--output", f"{label}={here / label}.expected.npy"]
            lines.append(f"expected {label} {label}.expected.npy")
    run(*command)
    (here / "case").write_text("\n".join(lines) + "\n")


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("root", type=pathlib.Path)
    options.add_argument("rnnc", type=pathlib.Path)
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--cells", help="only these, and one small bench")
    options = options.parse_args()
    root, folder = options.root.resolve(), options.folder.resolve()
    names = options.cells.split(",") if options.cells else list(CELLS)
    shutil.rmtree(folder, ignore_errors=True)
    ensure(folder / "modules")
    copied(root, folder)
    for name in names:
        file = root / "examples" / f"{name}.rnn"
        for kind in BOUNDS:
            module = folder / "modules" / f"{name}_{kind}"
            run(options.rnnc, "build", file, "--dtype", kind, "--arch", "x86-64-v2,sm_80,sm_90,sm_100,sm_120", "-o",
                f"{module}.so")
            case(options.rnnc, file, name, kind, folder)
    (folder / "benches").write_text(FEW_BENCHES.format(names[0]) if options.cells else BENCHES)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if size > MOST_BYTES:
        sys.exit(f"{folder}: {size} bytes, more than {MOST_BYTES}")
    print(f"{folder}: {len(names)} cells, {size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
