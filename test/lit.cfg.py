import os

import lit.formats

config.name = "rnnc"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".rnn", ".test"]
config.excludes = ["unit", "Inputs"]
config.test_source_root = os.path.join(config.rnn_source, "test")
config.test_exec_root = os.path.join(config.rnn_build, "test")
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.rnn_build, "bin"), config.llvm_bin, config.environment["PATH"]])
# Nothing of the user's own is read or written.
config.environment["HOME"] = config.test_exec_root
config.substitutions.append(("%examples", os.path.join(config.rnn_source, "examples")))
config.substitutions.append(("%python", "python3"))
config.substitutions.append(("%source", config.rnn_source))

# A test with `REQUIRES: soak` runs in `tools/test --soak` only.
if os.environ.get("RNN_SOAK") == "1":
    config.available_features.add("soak")
    config.environment["RNN_SOAK"] = "1"
