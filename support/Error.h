//===- Error.h - a user's mistake as a value --------------------------------------------------===//
//
// What went wrong, where, what was expected and what to do about it. Used by all three programs, so
// that a message reads the same wherever it comes from.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_SUPPORT_ERROR_H
#define CONQUER_SUPPORT_ERROR_H

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace conquer {

/// A user's mistake. `what` is lower case without a final period; the other fields may be empty.
struct Error {
  std::string what;     ///< "unknown precision 'i3'"
  std::string where;    ///< "policy.json: layers./conv1/Conv"
  std::string expected; ///< "one of f32, i8"
  std::string fix;      ///< "edit the policy, or pick a profile that allows it"

  /// "where: what; expected ...; fix" with empty parts left out.
  std::string message() const;
};

/// A value or the reason why there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : state(std::move(value)) {}
  Result(Error error) : state(std::move(error)) {}

  explicit operator bool() const { return std::holds_alternative<T>(state); }
  T &operator*() {
    assert(*this && "no value");
    return std::get<T>(state);
  }
  const T &operator*() const {
    assert(*this && "no value");
    return std::get<T>(state);
  }
  T *operator->() { return &**this; }
  const T *operator->() const { return &**this; }
  const Error &error() const { return std::get<Error>(state); }

private:
  std::variant<T, Error> state;
};

/// Success, or an Error: the Result of a function without a value.
using Status = Result<std::monostate>;
inline Status success() { return std::monostate{}; }

} // namespace conquer

#endif // CONQUER_SUPPORT_ERROR_H
