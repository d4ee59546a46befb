"""Fails where a program or library of a build is linked to CUDA's; lists what it looked at.

usage: no_cuda.py BUILD
"""
import os
import re
import subprocess
import sys

build = sys.argv[1]
linked = []
for folder in ("bin", "lib"):
    for name in sorted(os.listdir(os.path.join(build, folder))):
        path = os.path.join(build, folder, name)
        if os.path.islink(path) or not os.path.isfile(path):
            continue
        with open(path, "rb") as file:
            if file.read(4) != b"\x7fELF":
                continue
        result = subprocess.run(["ldd", path], capture_output=True, text=True)
        # Objects that need nothing at all are "not a dynamic executable".
        if result.returncode != 0 and "not a dynamic" not in result.stdout + result.stderr:
            sys.exit(f"ldd {path}: {result.stderr}")
        print(name)
        linked += [f"{name}: {line.strip()}" for line in result.stdout.splitlines()
                   if re.search(r"lib(cuda|cudart|nvrtc|nvidia|nvJitLink|cublas)[.-]", line)]
if linked:
    sys.exit("\n".join(linked))
