#include "mock.hpp"

#include "kernels.hpp"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

namespace rnnc::test {
namespace {

void* loaded(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    throw std::runtime_error(dlerror());
  }
  return library;
}

/// Before anything asks for a driver. Nothing of the user's own is read or written.
class Environment : public testing::Environment {
public:
  Environment() {
    setenv("RNN_CUDA", MOCK_CUDA, 1);
    setenv("RNN_NVRTC", MOCK_NVRTC, 1);
    setenv("RNN_MOCK_DEVICES", "90,90,80", 1);
    unsetenv("RNN_MOCK_VERSION");
    unsetenv("RNN_MOCK_KERNELS");
    std::string folder =
        (std::filesystem::temp_directory_path() / "rnn-cuda-device-XXXXXX").string();
    folder_ = mkdtemp(folder.data());
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  const std::string& folder() const { return folder_; }

private:
  std::string folder_;
};

Environment& environment() {
  static auto* made =
      static_cast<Environment*>(testing::AddGlobalTestEnvironment(new Environment()));
  return *made;
}

const Environment& first = environment();

} // namespace

mock_cuda::Driver& mock() {
  static auto* driver =
      reinterpret_cast<mock_cuda::Driver* (*)()>(dlsym(loaded(MOCK_CUDA), "mock_cuda_driver"))();
  return *driver;
}

int compiled() {
  static const auto count =
      reinterpret_cast<int (*)()>(dlsym(loaded(MOCK_NVRTC), "mock_nvrtc_compiled"));
  return count();
}

std::string cacheFolder() { return environment().folder() + "/rnn"; }

MockUnit::MockUnit(std::string theName, int64_t lanes, int64_t chunks, int64_t steps,
                   int64_t shared, int64_t argument)
    : name(std::move(theName)), unitName(name + ".cu"),
      text("extern \"C\" __global__ void " + name + "(args) {}\n") {
  entry = {name.c_str(), lanes, chunks, steps, shared, argument};
  unit.name = unitName.c_str();
  unit.text = text.c_str();
  unit.architecture = 90;
  unit.entries = 1;
  unit.entry = &entry;
  desc.size = sizeof(desc);
  desc.units = 1;
  desc.unit = &unit;
}

using EmaKernel = Kernel<Ema, float, TilePolicy, 1>;

EmaModule::EmaModule(const std::string& unitName)
    : table(cellNamed("ema")),
      unit(unitName, TilePolicy::lanes, TilePolicy::chunks, TilePolicy::steps,
           EmaKernel::sharedBytes, sizeof(EmaKernel::Args)),
      module(table.get()) {
  table.table.cuda = &unit.desc;
  static std::vector<std::string> brought;
  if (std::find(brought.begin(), brought.end(), unitName) == brought.end()) {
    mock().bring(EmaKernel::bring(unitName));
    brought.push_back(unitName);
  }
}

rnn_plan* EmaModule::plan(int64_t batch, int64_t time, int64_t width, int ordinal) {
  rnn_plan_options options = cudaOptions(ordinal);
  const rnn_dim_value dim{"d", width};
  options.dims = 1;
  options.dim = &dim;
  options.batch = batch;
  options.time = time;
  options.compute = RNN_F32;
  rnn_plan* made = nullptr;
  rnn_plan_create(module.module, &options, &made);
  return made;
}

EmaCall::EmaCall(EmaModule& module, int64_t batch, int64_t time, int64_t width, int ordinal)
    : plan(module.plan(batch, time, width, ordinal)), numbers(batch * time * width) {
  EXPECT_NE(plan, nullptr) << module.error();
  const std::vector<std::vector<int64_t>> shapes = {
      {batch, time, width}, {width}, {batch, time, width}, {batch, width}, {batch, width}};
  for (const std::vector<int64_t>& shape : shapes) {
    rnn_tensor tensor{};
    tensor.rank = static_cast<uint32_t>(shape.size());
    int64_t stride = 1;
    for (size_t a = shape.size(); a-- > 0;) {
      tensor.shape[a] = shape[a];
      tensor.strides[a] = stride;
      stride *= shape[a];
    }
    tensor.data = mock().memory(ordinal, static_cast<size_t>(stride) * sizeof(float));
    for (int64_t i = 0; i < stride; ++i) {
      static_cast<float*>(tensor.data)[i] = .5f + .125f * static_cast<float>(i % 7);
    }
    args.push_back(tensor);
  }
  size_t bytes = 0;
  rnn_plan_sizes(plan, &bytes, nullptr, nullptr);
  workspace = mock().memory(ordinal, bytes);
}

} // namespace rnnc::test
