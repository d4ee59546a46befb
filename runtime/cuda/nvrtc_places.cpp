// Where NVRTC may lie.
#include "nvrtc_places.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

using namespace rnnc::runtime;
namespace fs = std::filesystem;

namespace {

/// Newest first; a wheel of CUDA 13 lies in cu13, one of CUDA 12 in cuda_nvrtc.
constexpr const char* kNames[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
constexpr const char* kWheelFolders[] = {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"};
constexpr const char* kToolkitFolders[] = {"lib64", "lib", "targets/x86_64-linux/lib",
                                           "targets/sbsa-linux/lib"};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Entries of a folder whose name begins so, the largest name first; nothing where it cannot be
/// read.
std::vector<fs::path> entries(const fs::path& folder, const std::string& begin) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().filename().string().starts_with(begin))
      found.push_back(it->path());
  std::sort(found.rbegin(), found.rend());
  return found;
}

class Places {
public:
  std::vector<std::string> take() { return std::move(places); }

  void addFolder(const fs::path& folder) {
    for (const char* name : kNames) {
      std::error_code error;
      fs::path file = folder / name;
      if (fs::exists(file, error))
        places.push_back(file.string());
    }
  }
  /// A folder that Python finds packages in.
  void addPackages(const fs::path& site) {
    for (const char* folder : kWheelFolders)
      addFolder(site / folder);
  }
  /// A folder with lib/python3.N/{site,dist}-packages: a virtual environment or an installation.
  void addPython(const fs::path& prefix) {
    for (const fs::path& version : entries(prefix / "lib", "python3"))
      for (const char* packages : {"site-packages", "dist-packages"})
        addPackages(version / packages);
  }
  void addToolkit(const fs::path& root) {
    for (const char* folder : kToolkitFolders)
      addFolder(root / folder);
  }
  void addName(const char* name) { places.push_back(name); }

private:
  std::vector<std::string> places;
};

void addWheels(Places& places) {
  // The build folder's own: build/venv for build/bin/rnnc and build/asan/bin/rnnc.
  std::error_code error;
  fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (int up = 0; !error && up < 3; ++up, folder = folder.parent_path())
    places.addPython(folder / "venv");
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (std::string prefix = variable(name); !prefix.empty())
      places.addPython(prefix);
  std::string path = variable("PYTHONPATH");
  for (size_t begin = 0; begin < path.size();) {
    size_t end = std::min(path.find(':', begin), path.size());
    if (end > begin)
      places.addPackages(path.substr(begin, end - begin));
    begin = end + 1;
  }
  if (std::string home = variable("HOME"); !home.empty())
    places.addPython(fs::path(home) / ".local");
  places.addPython("/usr/local");
  places.addPackages("/usr/lib/python3/dist-packages");
}

} // namespace

std::vector<std::string> rnnc::runtime::nvrtcNames() {
  return {std::begin(kNames), std::end(kNames)};
}

std::vector<std::string> rnnc::runtime::nvrtcPlaces() {
  Places places;
  addWheels(places);
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (std::string root = variable(name); !root.empty())
      places.addToolkit(root);
  places.addToolkit("/usr/local/cuda");
  for (const fs::path& root : entries("/usr/local", "cuda-"))
    places.addToolkit(root);
  for (const char* name : kNames) // what the system's loader finds
    places.addName(name);
  return places.take();
}
