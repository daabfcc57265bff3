#include "library/inner/guard.h"

#include <ATen/Version.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/files/strict_json.h"
#include "base/threads.h"
#include "base/unicode.h"
#include "translation/lines/request.h"

namespace nmt::api {

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
  } catch (const nlohmann::json::exception& error) {
    throw UserError(json_error_line(error));
  } catch (const std::bad_alloc&) {
    throw MachineError("out of memory");
  } catch (const std::system_error& error) {
    throw MachineError(printable_line(error.what()));
  } catch (const std::exception& error) {  // c10::Error
    throw MachineError(printable_line(first_line(error)));
  }
}

int threads_of_call(int wanted) {
  check_threads("threads", wanted);
  return wanted > 0 ? wanted : default_threads();
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
