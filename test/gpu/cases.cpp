#include "cases.hpp"

#include "core/elements.hpp"
#include "data/Npy.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace gpu;
using rnnc::data::HostArray;
using rnnc::runtime::isResult;

std::string gpu::folder() {
  const char* value = std::getenv("RNN_GPU_FOLDER");
  return value ? value : ".";
}

const HostArray* Case::given(rnn_arg_kind kind, const std::string& tensor) const {
  const auto& arrays = kind == RNN_ARG_INPUT ? inputs : kind == RNN_ARG_PARAM ? params : initial;
  const auto found = arrays.find(tensor);
  return found == arrays.end() ? nullptr : &found->second;
}

static Case readCase(const std::filesystem::path& folder) {
  Case read;
  read.name = folder.filename();
  const std::map<std::string, std::map<std::string, HostArray>*> arrays = {
      {"input", &read.inputs},
      {"param", &read.params},
      {"initial", &read.initial},
      {"expected", &read.expected}};
  std::ifstream file(folder / "case");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key, name, path;
    words >> key;
    if (key == "module") {
      words >> read.module;
    } else if (key == "dtype") {
      words >> name;
      read.dtype = name == "f64" ? RNN_F64 : RNN_F32;
    } else if (key == "batch") {
      words >> read.batch;
    } else if (key == "time") {
      words >> read.time;
    } else if (key == "bound") {
      words >> read.bound;
    } else if (key == "dim") {
      words >> name >> read.dims[name];
    } else if (const auto to = arrays.find(key); to != arrays.end()) {
      words >> name >> path;
      auto array = rnnc::data::readNpy(folder / path);
      if (!array) {
        throw Trouble(array.error().text);
      }
      to->second->emplace(name, std::move(*array));
    } else {
      throw Trouble((folder / "case").string() + ": " + line);
    }
    if (!words) {
      throw Trouble((folder / "case").string() + ": " + line);
    }
  }
  if (read.module.empty() || read.expected.empty()) {
    throw Trouble((folder / "case").string() + ": it is not whole");
  }
  return read;
}

std::vector<Case> gpu::readCases(const std::string& folder) {
  std::vector<Case> cases;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    cases.push_back(readCase(entry.path()));
  }
  std::sort(cases.begin(), cases.end(),
            [](const Case& a, const Case& b) { return a.name < b.name; });
  return cases;
}

size_t gpu::bytesOf(const rnn_tensor& tensor) {
  auto bytes = static_cast<size_t>(rnnc::runtime::elementSize(tensor.dtype));
  for (uint32_t axis = 0; axis < tensor.rank; ++axis) {
    bytes *= static_cast<size_t>(tensor.shape[axis]);
  }
  return bytes;
}

Call::Call(const Case& of, rnn_schedule schedule, double tolerance) {
  Device& device = Device::get();
  check(rnn_context_create(&context_));
  const std::string path = folder() + "/modules/" + of.module + ".so";
  check(rnn_module_load(context_, path.c_str(), &module_));
  check(rnn_module_describe(module_, &signature_));
  std::vector<rnn_dim_value> dims;
  for (const auto& [name, size] : of.dims) {
    dims.push_back({name.c_str(), size});
  }
  rnn_plan_options options{};
  options.size = sizeof(options);
  options.dims = dims.size();
  options.dim = dims.data();
  options.batch = of.batch;
  options.time = of.time;
  options.compute = of.dtype;
  options.schedule = schedule;
  options.tolerance = tolerance;
  options.device = RNN_DEVICE_CUDA;
  check(rnn_plan_create(module_, &options, &plan_));
  args_.resize(signature_->args);
  check(rnn_plan_args(plan_, args_.data()));
  for (uint32_t i = 0; i < signature_->args; ++i) {
    rnn_tensor& tensor = args_[i];
    const rnn_tensor_desc& desc = signature_->table->tensor[signature_->arg[i].tensor];
    tensor.dtype = of.dtype;
    const rnn_arg_kind kind = signature_->arg[i].kind;
    const HostArray* given = isResult(kind) ? nullptr : of.given(kind, desc.name);
    if (kind == RNN_ARG_INITIAL && !given) {
      tensor = {};
      continue;
    }
    HostArray drawn;
    if (!isResult(kind) && !given && of.draw) {
      drawn = of.draw(tensor);
      given = &drawn;
    }
    const size_t bytes = bytesOf(tensor);
    if (!isResult(kind) && (!given || given->bytes.size() != bytes)) {
      throw Trouble(of.name + ": " + desc.name + " is not there, or of another size");
    }
    tensor.data = memory_.emplace_back(bytes).data();
    if (given) {
      device.copyIn(tensor.data, given->bytes.data(), bytes);
    }
  }
  size_t workspaceBytes = 0;
  check(rnn_plan_sizes(plan_, &workspaceBytes, nullptr, nullptr));
  workspace_ = memory_.emplace_back(workspaceBytes).data();
}

Call::~Call() {
  rnn_plan_destroy(plan_);
  rnn_module_destroy(module_);
  rnn_context_destroy(context_);
}

void Call::fail() const { throw Trouble(rnn_error_text(context_)); }

void Call::check(rnn_status status) const {
  if (status != RNN_OK) {
    fail();
  }
}

void Call::forward() {
  check(rnn_forward(plan_, args_.data(), workspace_, nullptr, Device::get().stream()));
}

std::vector<std::vector<std::byte>> Call::results() {
  Device& device = Device::get();
  device.synchronise();
  std::vector<std::vector<std::byte>> results(args_.size());
  for (size_t i = 0; i < args_.size(); ++i) {
    if (isResult(signature_->arg[i].kind)) {
      results[i].resize(bytesOf(args_[i]));
      device.copyOut(results[i].data(), args_[i].data, results[i].size());
    }
  }
  return results;
}

void Call::spoil() {
  for (size_t i = 0; i < args_.size(); ++i) {
    if (isResult(signature_->arg[i].kind)) {
      const std::vector<std::byte> bytes(bytesOf(args_[i]), std::byte{0xa5});
      Device::get().copyIn(args_[i].data, bytes.data(), bytes.size());
    }
  }
}

rnn_plan_info Call::info() const {
  rnn_plan_info info{};
  info.size = sizeof(info);
  check(rnn_plan_describe(plan_, &info));
  return info;
}

rnn_report Call::report() {
  Device::get().synchronise();
  rnn_report report{};
  report.size = sizeof(report);
  check(rnn_report_read(plan_, workspace_, &report));
  return report;
}

size_t Call::bytes() const {
  size_t bytes = 0;
  for (const rnn_tensor& tensor : args_) {
    bytes += tensor.data ? bytesOf(tensor) : 0;
  }
  return bytes;
}
