// Finding the driver, and what its errors become.
#include "mock.hpp"

#include "cuda/driver.hpp"
#include "cuda/session.hpp"

#include <cstdlib>

namespace rnnc::test {
namespace {

using namespace rnnc::runtime::cuda;

class Variable {
public:
  Variable(const char* name, const char* value) : name_(name) {
    const char* before = std::getenv(name);
    before_ = before ? before : "";
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Variable() { setenv(name_, before_.c_str(), 1); }
  Variable(const Variable&) = delete;

private:
  const char* name_;
  std::string before_;
};

struct Search {
  Search() { status = searchDriver(driver, error); }
  Driver driver;
  std::string error;
  rnn_status status;
};

TEST(FindDriver, TheOneThatTheVariableNames) {
  mock().forget();
  const Search search;
  ASSERT_EQ(search.status, RNN_OK) << search.error;
  EXPECT_EQ(search.driver.path, MOCK_CUDA);
  EXPECT_EQ(search.driver.version, 13000);
  EXPECT_EQ(search.driver.devices, 3);
  EXPECT_EQ(mock().calls().front(), "cuInit");
}

TEST(FindDriver, NoOtherThanTheOneNamed) {
  const Variable named("RNN_CUDA", "/nowhere/libcuda.so.1");
  const Search search;
  EXPECT_EQ(search.status, RNN_MISSING);
  EXPECT_NE(search.error.find("RNN_CUDA=/nowhere/libcuda.so.1: "), std::string::npos)
      << search.error;
}

TEST(FindDriver, ALibraryThatIsNoDriver) {
  const Variable named("RNN_CUDA", OTHER_LIBRARY);
  const Search search;
  EXPECT_EQ(search.status, RNN_MISSING);
  EXPECT_NE(search.error.find("it has no function cuInit: too old, or no driver of CUDA's"),
            std::string::npos)
      << search.error;
}

// On a machine with a driver there is nothing to see.
TEST(FindDriver, WhatIsMissingAndWhatToDo) {
  const Variable none("RNN_CUDA", nullptr);
  const Search search;
  if (search.status == RNN_OK) {
    GTEST_SKIP() << "this machine has a driver of CUDA's";
  }
  EXPECT_EQ(search.status, RNN_MISSING);
  EXPECT_NE(search.error.find("libcuda.so.1"), std::string::npos) << search.error;
}

TEST(FindDriver, WhatTheDriverSaysWhenItIsAsked) {
  struct Case {
    const char* function;
    int result;
    const char* text;
  };
  for (const Case& c :
       {Case{"cuInit", 100, "no CUDA-capable device is detected (CUDA_ERROR_NO_DEVICE)"},
        Case{"cuInit", 34, "the toolkit's stub"}, Case{"cuInit", 803, "restart the machine"},
        Case{"cuDriverGetVersion", 1, "asking the driver for its version"},
        Case{"cuDeviceGetCount", 999, "an unknown error (code 999)"}}) {
    mock().forget();
    mock().failOnce(c.function, c.result);
    const Search search;
    EXPECT_EQ(search.status, RNN_MISSING) << c.function;
    EXPECT_NE(search.error.find(c.text), std::string::npos) << search.error;
    EXPECT_EQ(Search().status, RNN_OK);
  }
}

TEST(Trouble, StatusesAndAdvice) {
  const Search search;
  struct Case {
    int result;
    rnn_status status;
    const char* text;
  };
  for (const Case& c :
       {Case{2, RNN_OUT_OF_MEMORY, "a smaller batch or time"},
        Case{100, RNN_MISSING, "CUDA_VISIBLE_DEVICES"},
        Case{222, RNN_MISSING, "the driver is for CUDA 13.0"},
        Case{900, RNN_DEVICE_FAILED, "captured"}, Case{700, RNN_DEVICE_FAILED, "context is lost"},
        Case{1, RNN_DEVICE_FAILED, "an unknown error (code 1)"}}) {
    const Trouble trouble = troubleOf(search.driver, c.result, "testing");
    EXPECT_EQ(trouble.status, c.status) << c.result;
    EXPECT_EQ(trouble.text.find("CUDA: testing: "), 0u);
    EXPECT_NE(trouble.text.find(c.text), std::string::npos) << trouble.text;
  }
}

TEST(Missing, SaysEverything) {
  EXPECT_EQ(whatIsMissing(0), "");
  EXPECT_EQ(whatIsMissing(3), "there is no device 3: they are 0 to 2");
}

TEST(Devices, AreListedWithoutTouchingThem) {
  const int retained = mock().retained(0);
  mock().forget();
  const std::vector<DeviceName> devices = listDevices();
  ASSERT_EQ(devices.size(), 3u);
  EXPECT_EQ(devices[2].name, "Mock device");
  EXPECT_EQ(devices[2].architecture, 80);
  EXPECT_EQ(mock().retained(0), retained);
  for (const std::string& call : mock().calls()) {
    EXPECT_EQ(call.find("Ctx"), std::string::npos) << call;
  }
}

TEST(Sessions, CopyAndGiveBack) {
  const size_t allocated = mock().allocated();
  {
    Session session;
    ASSERT_EQ(session.open(1), RNN_OK) << session.error();
    EXPECT_EQ(session.deviceName(), "Mock device");
    EXPECT_EQ(session.architecture(), 90);
    void *memory = nullptr, *none = &memory;
    ASSERT_EQ(session.allocate(100, memory), RNN_OK);
    ASSERT_EQ(session.allocate(0, none), RNN_OK);
    EXPECT_EQ(none, nullptr);
    EXPECT_EQ(mock().allocated(), allocated + 100);
    char out[100] = {}, in[100];
    std::memset(in, 7, sizeof(in));
    EXPECT_EQ(session.copyIn(memory, in, sizeof(in)), RNN_OK);
    EXPECT_EQ(session.copyOut(out, memory, sizeof(out)), RNN_OK);
    EXPECT_EQ(std::memcmp(in, out, sizeof(in)), 0);
    EXPECT_EQ(session.synchronise(), RNN_OK);
    mock().failOnce("cuMemAlloc", 2);
    void* more = nullptr;
    EXPECT_EQ(session.allocate(1 << 20, more), RNN_OUT_OF_MEMORY);
    EXPECT_NE(session.error().find("allocating 1048576 bytes: out of memory"), std::string::npos)
        << session.error();
    EXPECT_EQ(session.allocate(1 << 20, more), RNN_OK);
    EXPECT_EQ(mock().current(), -1);
  }
  EXPECT_EQ(mock().allocated(), allocated);
}

TEST(Sessions, ADeviceThatIsMissing) {
  Session session;
  EXPECT_EQ(session.open(5), RNN_MISSING);
  EXPECT_NE(session.error().find("there is no CUDA device 5"), std::string::npos);
}

} // namespace
} // namespace rnnc::test
