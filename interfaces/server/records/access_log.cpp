#include "server/records/access_log.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <utility>

#include "base/error.h"
#include "base/strict_json.h"

namespace nmt {
namespace {

constexpr size_t kLongestPath = 200;  // bytes

}  // namespace

AccessLog::AccessLog(std::string path) : path_(std::move(path)), file_(open()) {}

FileDescriptor AccessLog::open() const try {
  if (path_.empty()) return FileDescriptor(-1);
  if (path_ == "-") {
    FileDescriptor file(::dup(STDERR_FILENO));
    if (file.number() < 0) throw Error(fmt::format("-: {}", system_message(errno)));
    return file;
  }
  return open_regular_file(path_, O_WRONLY | O_APPEND | O_CREAT, 0640);
} catch (const Error& error) {
  throw Error(fmt::format("--access-log {}", error.what()));
}

void AccessLog::add(const HttpExchange& exchange) {
  if (path_.empty()) return;
  const nlohmann::ordered_json line = {{"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
                                       {"client", exchange.client},
                                       {"method", exchange.method},
                                       {"path", exchange.path.substr(0, kLongestPath)},
                                       {"status", exchange.status},
                                       {"received", exchange.received_bytes},
                                       {"sent", exchange.sent_bytes},
                                       {"seconds", exchange.time.count()}};
  const std::string text = line.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + '\n';
  const std::lock_guard lock(mutex_);
  [[maybe_unused]] const auto written = ::write(file_.number(), text.data(), text.size());
}

void AccessLog::use(FileDescriptor file) noexcept {
  const std::lock_guard lock(mutex_);
  file_ = std::move(file);  // the old one goes behind the lock
}

}  // namespace nmt
