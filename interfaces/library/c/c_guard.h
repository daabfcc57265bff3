#pragma once

#include <pthread.h>

#include <string>
#include <string_view>
#include <vector>

#include "nmt.h"
#include "nmt/log.h"
#include "nmt/stop_token.h"

namespace nmt::api {

/// Thrown where a callback of the caller said that it failed.
struct CallbackSaidNo {};

/// Notes the exception under way for nmt_error_message() and says what it is.
nmt_status status_of_exception() noexcept;
/// Notes a message.
nmt_status user_error(const char* message) noexcept;

/// A thread that is cancelled (pthread_cancel) in a call of the library ends after the call: glibc unwinds it with an
/// exception that must not be swallowed, and the library's own threads would go on with what it had on its stack.
class CancellationOff {
 public:
  CancellationOff() { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~CancellationOff() {
    int ignored = 0;
    ::pthread_setcancelstate(before_, &ignored);
  }
  CancellationOff(const CancellationOff&) = delete;
  CancellationOff& operator=(const CancellationOff&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

/// body(), without exceptions and without an end of its thread.
template <typename Body>
nmt_status without_exceptions(const Body& body) noexcept {
  const CancellationOff whole_call;
  try {
    body();
    return NMT_OK;
  } catch (...) {
    return status_of_exception();
  }
}

/// A pointer that has to be there. Throws UserError that names it.
void require(const void* pointer, const char* name);
/// A name that has to be there and not to be empty. Throws UserError that says of what.
void require_name(const char* text, const char* name);
/// A number of things of `size` bytes each. Throws UserError where no memory could hold them.
void require_room(const char* name, size_t count, size_t size);

/// texts[count] with their lengths, or all ended by NUL.
std::vector<std::string> texts_of(const char* const* texts, const size_t* lengths, size_t count, const char* name);
std::string text_of(const char* text, size_t length, const char* name);

StopToken token_of(const nmt_stop* stop);
LogSink sink_of(nmt_log_function log, void* user);

}  // namespace nmt::api
