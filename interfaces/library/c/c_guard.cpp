#include "library/c/c_guard.h"

#include <fmt/format.h>

#include <cstdint>
#include <new>

#include "base/code_points.h"
#include "library/c/c_objects.h"
#include "nmt/memory.h"
#include "nmt/version.h"

namespace nmt::api {
namespace {

// Of each thread. Where no memory is left even for the message, a text of the library's own.
thread_local std::string t_message;
thread_local const char* t_shown = "";

nmt_status noted(nmt_status status, const char* message) noexcept {
  try {
    t_message = printable_line(message);  // whatever texts of the caller it holds
    t_shown = t_message.c_str();
  } catch (...) {
    t_shown = "out of memory";
  }
  return status;
}

}  // namespace

nmt_status status_of_exception() noexcept {
  try {
    throw;
  } catch (const CallbackSaidNo&) {
    return noted(NMT_CALLBACK, "a callback said that it failed");
  } catch (const Stopped& stopped) {
    return noted(NMT_STOPPED, stopped.what());
  } catch (const UserError& error) {
    return noted(NMT_USER_ERROR, error.what());
  } catch (const std::bad_alloc&) {
    return noted(NMT_MACHINE_ERROR, "out of memory");
  } catch (const std::exception& error) {
    return noted(NMT_MACHINE_ERROR, error.what());
  } catch (...) {
    return noted(NMT_MACHINE_ERROR, "an unknown error");
  }
}

nmt_status user_error(const char* message) noexcept { return noted(NMT_USER_ERROR, message); }

void require(const void* pointer, const char* name) {
  if (!pointer) throw UserError(std::string(name) + " is NULL");
}

void require_name(const char* text, const char* name) {
  require(text, name);
  if (!*text) throw UserError(fmt::format("{}: the name is empty; give one", name));
}

void require_room(const char* name, size_t count, size_t size) {
  if (count >= static_cast<size_t>(PTRDIFF_MAX) / size)
    throw UserError(fmt::format("{}: {} {}; no memory holds so many", name, count, size == 1 ? "bytes" : "of them"));
}

std::string text_of(const char* text, size_t length, const char* name) {
  if (length == 0) return "";
  require(text, name);
  if (length == NMT_TERMINATED) return text;
  require_room(name, length, 1);
  return std::string(text, length);
}

std::vector<std::string> texts_of(const char* const* texts, const size_t* lengths, size_t count, const char* name) {
  std::vector<std::string> result;
  if (count == 0) return result;
  require(texts, name);
  require_room(name, count, sizeof(std::string));
  result.reserve(count);
  for (size_t i = 0; i < count; ++i)
    result.push_back(text_of(texts[i], lengths ? lengths[i] : NMT_TERMINATED, fmt::format("{}[{}]", name, i).c_str()));
  return result;
}

StopToken token_of(const nmt_stop* stop) { return stop ? stop->token : StopToken(); }

LogSink sink_of(nmt_log_function log, void* user) {
  if (!log) return {};
  return [log, user](LogLevel level, const std::string& line) {
    const auto of_c = level == LogLevel::kError     ? NMT_LOG_ERROR
                      : level == LogLevel::kWarning ? NMT_LOG_WARNING
                                                    : NMT_LOG_INFO;
    log(user, of_c, line.c_str());
  };
}

}  // namespace nmt::api

extern "C" {

const char* nmt_error_message(void) { return nmt::api::t_shown; }

const char* nmt_version(void) { return NMT_VERSION_STRING; }

void nmt_reuse_freed_tensors(void) { nmt::api::reuse_freed_tensors(); }

nmt_stop* nmt_stop_new(void) {
  try {
    return new nmt_stop;
  } catch (...) {
    return nullptr;
  }
}

void nmt_stop_request(nmt_stop* stop) {
  if (stop) stop->token.request_stop();
}

void nmt_stop_free(nmt_stop* stop) { delete stop; }

}  // extern "C"
