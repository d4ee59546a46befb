"""Installs a build into clean prefixes and builds the project of docs/modules.md against them.

usage: install.py BUILD SOURCE FOLDER
"""
import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

BUILD, SOURCE, FOLDER = (Path(argument).resolve() for argument in sys.argv[1:])
RNNC = BUILD / "bin/rnnc"
BATCH, TIME, D = 2, 500, 24
ARRAYS = ["x_f", "x_z", "x_o", "a_f", "a_z", "a_o", "c_f", "c_o"]


def run(*command, cwd=FOLDER, env=None, fails=False):
    result = subprocess.run([str(word) for word in command], cwd=cwd, env=env, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if (result.returncode != 0) != fails:
        sys.exit(f"{command}: status {result.returncode}\n{result.stdout}")
    return result.stdout


def say(who, text):
    for line in text.splitlines():
        print(f"{who}: {line}")


def snippet(kind):
    text = (SOURCE / "docs/modules.md").read_text()
    return re.search(rf"^```{kind}\n(.*?)^```", text, re.M | re.S)[1]


def install(*components):
    prefix = FOLDER / ("prefix-" + "-".join(components))
    for component in components:
        run("cmake", "--install", BUILD, "--prefix", prefix, "--component", component)
    return prefix


def project(name, cmake, files):
    folder = FOLDER / name
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(cmake)
    for file, content in files.items():
        if isinstance(content, Path):
            shutil.copy(content, folder / file)
        else:
            (folder / file).write_text(content)
    return folder


def configure(folder, prefix, **options):
    return run("cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}",
               "-DCMAKE_BUILD_TYPE=Release", **options)


def build(folder, prefix):
    configure(folder, prefix)
    run("cmake", "--build", folder / "build")
    return folder / "build/app"


def numbers(count, seed):
    """As the program draws them."""
    data = []
    for _ in range(count):
        seed = (1664525 * seed + 1013904223) % 2**32
        data.append((seed >> 8) / 2**23 - 1)
    return struct.pack(f"{count}f", *data)


def write_npy(path, shape, data):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def as_rnnc_runs_it(folder):
    inputs = []
    for seed, name in enumerate(ARRAYS, 1):
        shape = (BATCH, TIME, D) if name.startswith("x") else (D,)
        count = BATCH * TIME * D if name.startswith("x") else D
        write_npy(folder / f"{name}.npy", shape, numbers(count, seed))
        inputs += ["--input", f"{name}={name}.npy"]
    run(RNNC, "run", SOURCE / "examples/paralstm.rnn", *inputs, "--output", "h=expected.npy",
        "--schedule", "sequential", "--batch", BATCH, "--time", TIME, cwd=folder)
    expected = (folder / "expected.npy").read_bytes()
    return expected[-4 * BATCH * TIME * D:] == (folder / "h.f32").read_bytes()


FOLDER.mkdir(parents=True)
runtime = install("runtime")
say("runtime", "\n".join(sorted(str(path.relative_to(runtime)) for path in runtime.rglob("*")
                                if path.is_file())))
for kind in "oh":
    run(RNNC, "build", SOURCE / "examples/paralstm.rnn", "-o", f"paralstm.{kind}")
run(RNNC, "build", SOURCE / "examples/paralstm.rnn", "-o", "paralstm.so")

objects = project("object", snippet("cmake"), {
    "app.c": snippet("c"), "paralstm.o": FOLDER / "paralstm.o", "paralstm.h": FOLDER / "paralstm.h"})
app = build(objects, runtime)
say("object", run(app, cwd=objects))
say("object", "as rnnc run" if as_rnnc_runs_it(objects) else "not as rnnc run")
linked = run("ldd", app) + run("ldd", next(runtime.rglob("librnn.so")))
say("object", "no LLVM, no CUDA" if not re.search(r"LLVM|MLIR|cuda|nvrtc", linked) else linked)

library = next(runtime.rglob("librnn.so")).parent
flags = run("pkg-config", "--cflags", "--libs", "rnn",
            env={**os.environ, "PKG_CONFIG_PATH": str(library / "pkgconfig")}).split()
run("cc", "app.c", "paralstm.o", *flags, "-o", "app", cwd=objects)
say("pkg-config", run(objects / "app", cwd=objects,
                      env={**os.environ, "LD_LIBRARY_PATH": str(library)}))

sources = snippet("cmake").replace("cells paralstm.o", "cells paralstm.rnn")
files = {"app.c": snippet("c"), "paralstm.rnn": SOURCE / "examples/paralstm.rnn"}
refused = configure(project("refused", sources, files), runtime, fails=True)
say("without rnnc", " ".join(re.search(r"add_rnn_library\(cells\):.*?installed", refused, re.S)[0].split()))
both = install("runtime", "compiler")
compiled = project("compiled", sources, files)
say("source", run(build(compiled, both), cwd=compiled))

cpp = project("cpp", """cmake_minimum_required(VERSION 3.25)
project(app CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(rnn 0.1 REQUIRED)
add_executable(app app.cpp)
target_link_libraries(app rnn::runtime)
""", {"app.cpp": """#include "rnn/rnn.hpp"

#include <cstdio>
#include <vector>

int main(int, char** argv) {
  rnn::Context context = rnn::Context::create().value();
  rnn::Module module = context.load(argv[1]).value();
  rnn::Plan plan = module.plan({.batch = 1, .time = 3, .dims = {{"d", 4}}}).value();
  std::vector<rnn_tensor> args = plan.args();
  std::vector<float> zeros(12);
  for (rnn_tensor& arg : args)
    arg.data = &arg < &args[8] ? zeros.data() : nullptr;
  rnn::Memory workspace = plan.workspace();
  plan.forward(args, workspace).value();
  std::printf("loaded paralstm.so: %d steps\\n", int(args[0].shape[1]));
}
"""})
say("C++", run(build(cpp, runtime), FOLDER / "paralstm.so"))
