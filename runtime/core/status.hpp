// Errors inside the runtime: thrown, and turned into a status and a text at the C boundary.
#pragma once

#include "rnn/rnn.h"

#include <exception>
#include <fmt/format.h>
#include <new>
#include <string>
#include <utility>

namespace rnnc::runtime {

class Error : public std::exception {
public:
  Error(rnn_status status, std::string text) : status_(status), text_(std::move(text)) {}
  rnn_status status() const { return status_; }
  const char* what() const noexcept override { return text_.c_str(); }

private:
  rnn_status status_;
  std::string text_;
};

template <class... Args>
[[noreturn]] void fail(rnn_status status, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(status, fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
[[noreturn]] void invalid(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(RNN_INVALID_ARGUMENT, fmt::format(format, std::forward<Args>(args)...));
}

/// The calling thread's error text; rnn_error_text reads it.
void setErrorText(const char* text) noexcept;
const char* errorText() noexcept;

/// Runs `body` (which returns a status) and lets no exception out.
template <class Body>
rnn_status guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const Error& error) {
    setErrorText(error.what());
    return error.status();
  } catch (const std::bad_alloc&) {
    setErrorText("out of memory");
    return RNN_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    setErrorText(error.what());
    return RNN_INTERNAL;
  } catch (...) {
    setErrorText("an exception of unknown type");
    return RNN_INTERNAL;
  }
}

/// a * b of sizes; fails where the product does not fit.
inline int64_t checkedProduct(int64_t a, int64_t b, const char* what) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) {
    invalid("{} is too large: {} x {} does not fit in 63 bits", what, a, b);
  }
  return product;
}

/// a + b of sizes; likewise.
inline int64_t checkedSum(int64_t a, int64_t b, const char* what) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) {
    invalid("{} is too large: {} + {} does not fit in 63 bits", what, a, b);
  }
  return sum;
}

} // namespace rnnc::runtime
