#include "library/inner/guard.h"

#include <filesystem>
#include <new>
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

}  // namespace nmt::api
