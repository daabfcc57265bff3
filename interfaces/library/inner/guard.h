#pragma once

#include <exception>
#include <functional>
#include <type_traits>
#include <utility>

#include "nmt/error.h"

namespace nmt::api {

/// What a callback of the caller threw, on its way through the toolkit's code, which may catch std::exception.
struct CallbackFailure {
  std::exception_ptr thrown;
};

/// The callback, with what it throws wrapped in a CallbackFailure; empty where it is.
template <typename Result, typename... Arguments>
std::function<Result(Arguments...)> shielded(std::function<Result(Arguments...)> callback) {
  if (!callback) return {};
  return [callback = std::move(callback)](Arguments... arguments) -> Result {
    try {
      return callback(std::forward<Arguments>(arguments)...);
    } catch (...) {
      throw CallbackFailure{std::current_exception()};
    }
  };
}

/// Throws the exception under way again as one of this interface: what a callback threw as it was, all else as an Error
/// of one line.
[[noreturn]] void rethrow_as_error();

/// Every function of the interface that does something: body(), with its exceptions as this interface has them.
template <typename Body>
auto guarded(const Body& body) {
  try {
    return body();
  } catch (...) {
    rethrow_as_error();
  }
}

/// How many threads a translator or a server has. wanted: 0 for all processors. Throws nmt::Error for a number out of
/// range.
int threads_of_call(int wanted);

}  // namespace nmt::api
