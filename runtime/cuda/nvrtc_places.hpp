// Where NVRTC may lie.
#pragma once

#include <string>
#include <vector>

namespace rnnc::runtime {

/// Files and library names to try, best first; files are there. Not RNN_NVRTC, and not what is
/// loaded already. Reads the environment: VIRTUAL_ENV, CONDA_PREFIX, PYTHONPATH, HOME, CUDA_HOME,
/// CUDA_PATH.
std::vector<std::string> nvrtcPlaces();

/// Names by which a loaded library may be known, newest first.
std::vector<std::string> nvrtcNames();

} // namespace rnnc::runtime
