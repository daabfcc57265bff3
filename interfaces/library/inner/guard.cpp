#include "library/inner/guard.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>
#include <thread>

#include "base/code_points.h"
#include "base/error.h"
#include "base/library_errors.h"
#include "base/threads.h"
#include "translation/lines/translation_calls.h"

namespace nmt::api {
namespace {

/// The process in which the library began to work; 0: it has not.
std::atomic<pid_t> home = 0;

}  // namespace

Error::~Error() = default;
UserError::~UserError() = default;
MachineError::~MachineError() = default;
Stopped::~Stopped() = default;

void rethrow_as_error() {
  try {
    try {
      throw;
    } catch (const std::filesystem::filesystem_error& error) {
      throw_path_error(error);
    }
  } catch (const CallbackFailure& failure) {
    std::rethrow_exception(failure.thrown);
  } catch (const Error&) {
    throw;
  } catch (const nmt::Error& error) {
    throw UserError(printable_line(error.what()));
  } catch (const nmt::MachineError& error) {
    throw MachineError(printable_line(error.what()));
  } catch (const TranslationStopped& stopped) {
    throw Stopped(stopped.what());
  } catch (const std::bad_alloc&) {
    throw MachineError("out of memory");
  } catch (const std::system_error& error) {
    throw MachineError(printable_line(error.what()));
  } catch (const std::exception& error) {  // c10::Error
    throw MachineError(printable_line(first_line(error)));
  }
}

bool is_forked() {
  const pid_t here = ::getpid();
  pid_t there = 0;
  return !home.compare_exchange_strong(there, here) && there != here;
}

void run_where_threads_work(const std::function<void()>& body) {
  if (!is_forked()) return body();
  std::exception_ptr thrown;
  start_thread([&] {
    try {
      body();
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace nmt::api
