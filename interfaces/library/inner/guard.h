#pragma once

#include <c10/core/GradMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

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

/// The same for what computes with LibTorch: the calling thread's torch.no_grad() and torch.autocast() do not hold for
/// it.
template <typename Body>
void guarded_work(const Body& body) {
  guarded([&] {
    const c10::AutoGradMode with_gradients(true);
    const c10::impl::ExcludeDispatchKeyGuard without_autocast(c10::autocast_dispatch_keyset);
    body();
  });
}

/// How many threads a call has, for nmt::ThreadLimit. wanted: 0 for all processors. Throws nmt::Error for a number out
/// of range.
int threads_of_call(int wanted);

/// Throws nmt::Error where the process has loaded another minor version of LibTorch than this library was built with:
/// one that the program itself or another library brought along.
void require_matching_torch();

}  // namespace nmt::api
