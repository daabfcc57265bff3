#include "server/records/suggestion_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "base/error.h"
#include "base/files/file_descriptor.h"
#include "base/files/strict_json.h"
#include "server/http/http_message.h"

namespace nmt {
namespace {

constexpr int64_t kLargest = int64_t{1} << 30;  // bytes

FileDescriptor open_to_append(const std::string& path) {
  return open_regular_file(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
}

}  // namespace

SuggestionFile::SuggestionFile(const std::string& path) : path_(path) {
  if (is_open()) open_to_append(path_);
}

void SuggestionFile::add(const Suggestion& suggestion) {
  if (!is_open()) throw RequestError(403, "Suggestions are disabled on this server.");
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  const nlohmann::ordered_json object = {{"q", suggestion.source_text},
                                         {"s", suggestion.translation},
                                         {"source", suggestion.source},
                                         {"target", suggestion.target},
                                         {"time", now.count()}};
  const std::string line = object.dump() + '\n';

  const std::lock_guard lock(mutex_);
  // Opened again each time: the file may have been moved away to be read.
  const FileDescriptor file = open_to_append(path_);
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) throw Error(fmt::format("{}: {}", path_, system_message(errno)));
  if (status.st_size > kLargest) throw RequestError(507, "the server has no more room for suggestions");
  const ssize_t written = ::write(file.number(), line.data(), line.size());
  if (written == std::ssize(line)) return;
  const int error = written < 0 ? errno : ENOSPC;
  // No half line stays for those who read the file.
  if (written > 0 && ::ftruncate(file.number(), status.st_size) != 0)
    throw Error(fmt::format("{}: {}", path_, system_message(errno)));
  throw Error(fmt::format("{}: {}", path_, system_message(error)));
}

}  // namespace nmt
