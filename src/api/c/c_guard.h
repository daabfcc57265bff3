#pragma once

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

/// body(), without exceptions.
template <typename Body>
nmt_status without_exceptions(const Body& body) noexcept {
  try {
    body();
    return NMT_OK;
  } catch (...) {
    return status_of_exception();
  }
}

/// A pointer that has to be there. Throws UserError that names it.
void require(const void* pointer, const char* name);

/// texts[count] with their lengths, or all ended by NUL.
std::vector<std::string> texts_of(const char* const* texts, const size_t* lengths, size_t count, const char* name);
std::string text_of(const char* text, size_t length, const char* name);

StopToken token_of(const nmt_stop* stop);
LogSink sink_of(nmt_log_function log, void* user);

}  // namespace nmt::api
