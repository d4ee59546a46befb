#include "cuda/device.hpp"

#include "core/status.hpp"

namespace rnnc::runtime::cuda {
namespace {

int attribute(const Driver& driver, DeviceNumber number, int which) {
  int value = 0;
  check(driver, driver->cuDeviceGetAttribute(&value, which, number),
        "asking what the device can do");
  return value;
}

DeviceNumber numberOf(const Driver& driver, int ordinal) {
  if (!hasDevice(driver, ordinal)) {
    fail(RNN_MISSING, "there is no CUDA device {}: {}", ordinal, ordinalsText(driver));
  }
  DeviceNumber number = 0;
  check(driver, driver->cuDeviceGet(&number, ordinal), "opening the device");
  return number;
}

} // namespace

bool hasDevice(const Driver& driver, int ordinal) {
  return ordinal >= 0 && ordinal < driver.devices;
}

std::string ordinalsText(const Driver& driver) {
  return driver.devices == 1 ? "the only one is 0"
                             : fmt::format("they are 0 to {}", driver.devices - 1);
}

DeviceFacts factsOf(const Driver& driver, int ordinal) {
  const DeviceNumber number = numberOf(driver, ordinal);
  DeviceFacts facts;
  char text[256] = {};
  check(driver, driver->cuDeviceGetName(text, sizeof(text) - 1, number), "naming the device");
  facts.name = text;
  facts.architecture =
      10 * attribute(driver, number, kComputeMajor) + attribute(driver, number, kComputeMinor);
  facts.multiprocessors = attribute(driver, number, kMultiprocessors);
  facts.sharedPerBlock = attribute(driver, number, kSharedPerBlock);
  facts.readsHostMemory = attribute(driver, number, kPageableMemory) != 0;
  return facts;
}

Device::Device(const Driver& theDriver, int theOrdinal)
    : DeviceFacts(factsOf(theDriver, theOrdinal)), driver(theDriver), ordinal(theOrdinal),
      number_(numberOf(theDriver, theOrdinal)) {
  check(driver, driver->cuDevicePrimaryCtxRetain(&context, number_),
        "getting the device's primary context");
}

// Nothing to be done where it fails: the process may be at its end, and the driver with it.
Device::~Device() { driver->cuDevicePrimaryCtxRelease(number_); }

Current::Current(const Device& device) : device_(device) {
  check(device.driver, device.driver->cuCtxPushCurrent(device.context),
        "making the device's context current");
}

void Current::restore() {
  ContextRef popped = nullptr;
  isRestored_ = true;
  check(device_.driver, device_.driver->cuCtxPopCurrent(&popped),
        "making current what was so before");
}

// An error is on its way already where it is not restored.
Current::~Current() {
  ContextRef popped = nullptr;
  if (!isRestored_) {
    device_.driver->cuCtxPopCurrent(&popped);
  }
}

std::string deviceText(const Device& device) {
  return fmt::format("CUDA device {} ({}, sm_{})", device.ordinal, device.name,
                     device.architecture);
}

} // namespace rnnc::runtime::cuda
