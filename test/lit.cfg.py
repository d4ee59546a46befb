import json
import os
import shutil
import subprocess

import lit.formats

config.name = "rnnc"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".rnn", ".test"]
config.excludes = ["unit", "Inputs"]
config.test_source_root = os.path.join(config.rnn_source, "test")
config.test_exec_root = os.path.join(config.rnn_build, "test")
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.rnn_build, "bin"), config.llvm_bin, config.environment["PATH"]])
# Nothing of the user's own is read or written, but what ccache knows.
config.environment.setdefault("CCACHE_DIR", os.environ.get("CCACHE_DIR", os.path.expanduser("~/.cache/ccache")))
config.environment["HOME"] = config.test_exec_root
config.substitutions.append(("%examples", os.path.join(config.rnn_source, "examples")))
config.substitutions.append(("%python", "python3"))
config.substitutions.append(("%ccache", shutil.which("ccache") or ""))
# All shapes take minutes a dozen cells.
config.substitutions.append(("%check", "rnnc check" if os.environ.get("RNN_SOAK") == "1" else "rnnc check --quick"))
config.substitutions.append(("%source", config.rnn_source))
config.substitutions.append(("%build", config.rnn_build))

# NVRTC as the user's own environment has it, which tests do not.
doctor = subprocess.run([os.path.join(config.rnn_build, "bin", "rnnc"), "doctor", "--json"],
                        capture_output=True, text=True)
nvrtc = json.loads(doctor.stdout)["cuda"]["nvrtc"] if doctor.stdout else {"found": False}
if nvrtc["found"]:
    config.available_features.add("nvrtc")
    config.environment["RNN_NVRTC"] = nvrtc["library"]

# Kernels for a CUDA device that is not there, which a build with sanitizers does not have.
if os.path.exists(os.path.join(config.rnn_build, "lib", "libmock_cuda_kernels.so")):
    config.available_features.add("mock-kernels")

# A test with `REQUIRES: soak` runs in `tools/test --soak` only.
if os.environ.get("RNN_SOAK") == "1":
    config.available_features.add("soak")
    config.environment["RNN_SOAK"] = "1"

# Sanitizers reserve terabytes of addresses and take their time.
if config.rnn_sanitize:
    config.available_features.add("sanitized")
    config.environment["RNN_SANITIZED"] = "1"
