#include "cuda/session.hpp"

#include "core/status.hpp"
#include "cuda/device.hpp"
#include "cuda/nvrtc.hpp"

namespace rnnc::runtime::cuda {
namespace {

Address addressOf(const void* memory) { return reinterpret_cast<Address>(memory); }

std::string missing(int ordinal) {
  std::string text, driverText, nvrtcText;
  const Driver* driver = nullptr;
  const Nvrtc* nvrtc = nullptr;
  if (findDriver(driver, driverText) != RNN_OK) {
    text = driverText;
  } else if (!hasDevice(*driver, ordinal)) {
    text = fmt::format("there is no device {}: {}", ordinal, ordinalsText(*driver));
  }
  if (findNvrtc(nvrtc, nvrtcText) != RNN_OK) {
    text += (text.empty() ? "" : "; ") + nvrtcText;
  }
  return text;
}

} // namespace

std::vector<DeviceName> listDevices() noexcept {
  std::vector<DeviceName> devices;
  try {
    const Driver* driver = nullptr;
    std::string why;
    if (findDriver(driver, why) == RNN_OK) {
      for (int i = 0; i < driver->devices; ++i) {
        const DeviceFacts facts = factsOf(*driver, i);
        devices.push_back({facts.name, facts.architecture});
      }
    }
  } catch (const std::exception&) {
    // Then these are all that answer.
  }
  return devices;
}

std::string whatIsMissing(int ordinal) noexcept {
  try {
    return missing(ordinal);
  } catch (...) {
    return "memory";
  }
}

template <class Work>
rnn_status Session::run(Work&& work) noexcept {
  try {
    work();
    return RNN_OK;
  } catch (const Error& error) {
    error_ = error.what();
    return error.status();
  } catch (const std::exception& error) {
    error_ = error.what();
    return RNN_INTERNAL;
  }
}

Session::Session() = default;

Session::~Session() {
  if (!device_) {
    return;
  }
  run([&] {
    Current current(*device_);
    for (void* memory : memory_) {
      device_->driver->cuMemFree(addressOf(memory));
    }
    if (stream_) {
      device_->driver->cuStreamDestroy(static_cast<StreamRef>(stream_));
    }
    current.restore();
  });
}

rnn_status Session::open(int ordinal) noexcept {
  return run([&] {
    const Driver* driver = nullptr;
    std::string why;
    if (const rnn_status status = findDriver(driver, why); status != RNN_OK) {
      fail(status, "no CUDA device can be used: {}", why);
    }
    device_ = std::make_unique<Device>(*driver, ordinal);
    Current current(*device_);
    StreamRef stream = nullptr;
    check(*driver, (*driver)->cuStreamCreate(&stream, 0), "making a stream");
    stream_ = stream;
    current.restore();
  });
}

rnn_status Session::allocate(size_t bytes, void*& out) noexcept {
  out = nullptr;
  return run([&] {
    if (bytes == 0) {
      return;
    }
    memory_.reserve(memory_.size() + 1);
    Current current(*device_);
    Address memory = 0;
    check(device_->driver, device_->driver->cuMemAlloc(&memory, bytes),
          fmt::format("allocating {} bytes", bytes).c_str());
    out = reinterpret_cast<void*>(memory);
    memory_.push_back(out);
    current.restore();
  });
}

rnn_status Session::copyIn(void* to, const void* from, size_t bytes) noexcept {
  return run([&] {
    Current current(*device_);
    if (bytes > 0) {
      check(device_->driver, device_->driver->cuMemcpyHtoD(addressOf(to), from, bytes),
            "copying to the device");
    }
    current.restore();
  });
}

rnn_status Session::copyOut(void* to, const void* from, size_t bytes) noexcept {
  return run([&] {
    Current current(*device_);
    if (bytes > 0) {
      check(device_->driver, device_->driver->cuMemcpyDtoH(to, addressOf(from), bytes),
            "copying from the device");
    }
    current.restore();
  });
}

rnn_status Session::synchronise() noexcept {
  return run([&] {
    Current current(*device_);
    check(device_->driver, device_->driver->cuStreamSynchronize(static_cast<StreamRef>(stream_)),
          "waiting for the kernels");
    current.restore();
  });
}

const std::string& Session::deviceName() const { return device_->name; }
int Session::architecture() const { return device_->architecture; }

} // namespace rnnc::runtime::cuda
