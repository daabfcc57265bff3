#include "library/inner/guard.h"

#include <ATen/Version.h>
#include <fmt/format.h>
#include <torch/version.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <latch>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/threads.h"
#include "base/unicode.h"
#include "translation/lines/request.h"

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

namespace {

/// Begins the threads that work beside the calling one, all at a time, and ends them.
void try_threads(int threads) {
  std::latch end(1);
  std::vector<std::jthread> others;
  struct End {
    std::latch& latch;
    ~End() { latch.count_down(); }  // also where one cannot be begun
  } const at_end{end};
  for (int i = 1; i < threads; ++i) others.push_back(start_thread<std::jthread>([&end] { end.wait(); }));
}

}  // namespace

int threads_of_call(int wanted) {
  check_threads("threads", wanted);
  const int threads = wanted > 0 ? wanted : default_threads();
  static std::atomic<int> given = 1;
  int before = given;
  if (threads <= before) return threads;
  try_threads(threads);
  while (before < threads && !given.compare_exchange_weak(before, threads)) {
  }
  return threads;
}

namespace {

/// "2.12.0" of "... TORCH_VERSION=2.12.0, USE_CUDA=..."; empty where it does not say.
std::string version_in(std::string_view settings) {
  constexpr std::string_view kName = "TORCH_VERSION=";
  const size_t at = settings.find(kName);
  if (at == std::string_view::npos) return "";
  const auto rest = settings.substr(at + kName.size());
  return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
}

}  // namespace

void require_matching_torch() {
  static const std::string loaded = version_in(at::show_config());
  const std::string own = fmt::format("{}.{}.", TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR);  // patches have one ABI
  if (loaded.empty() || loaded.starts_with(own)) return;
  throw nmt::Error(
      fmt::format("this process has loaded LibTorch {}, but libnmt was built with {}: load libnmt before the library "
                  "that brings the other one along, or build libnmt with that one",
                  loaded, TORCH_VERSION));
}

}  // namespace nmt::api
