// A value or one message for the user. No exceptions cross the headers of this library.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace rnnc::data {

struct Error {
  std::string text;
};

template <class T>
class [[nodiscard]] Result {
public:
  Result(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state.index() == 0; }

  /// The value; only where there is one.
  T& operator*() { return *std::get_if<0>(&state); }
  const T& operator*() const { return *std::get_if<0>(&state); }
  T* operator->() { return std::get_if<0>(&state); }
  const T* operator->() const { return std::get_if<0>(&state); }

  /// The message; only where there is no value.
  const Error& error() const { return *std::get_if<1>(&state); }

private:
  std::variant<T, Error> state;
};

using Status = Result<std::monostate>;
inline Status success() { return std::monostate{}; }

} // namespace rnnc::data
