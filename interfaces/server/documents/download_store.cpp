#include "server/documents/download_store.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/files/file_descriptor.h"
#include "server/http/http_message.h"

namespace nmt {
namespace {

/// A name that only who was told it can know.
std::string random_name() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != std::ssize(bytes))
    throw MachineError(fmt::format("the system gives no random numbers: {}", system_message(errno)));
  std::string name;
  for (const unsigned char byte : bytes) name += fmt::format("{:02x}", byte);
  return name;
}

}  // namespace

std::string DownloadStore::add(Download download, const std::string& client, Clock::time_point now) {
  const int64_t share = limits_.bytes / 4, size = std::ssize(download.bytes);
  if (size > share)
    throw RequestError(413, fmt::format("the translated document is too large: at most {} bytes", share));
  std::string name = random_name() + std::filesystem::path(download.file_name).extension().string();

  const std::lock_guard lock(mutex_);
  forget_old(now);
  while (bytes_of(&client) + size > share) {
    auto oldest = kept_.end();
    for (auto at = kept_.begin(); at != kept_.end(); ++at) {
      if (at->second.client == client && (oldest == kept_.end() || at->second.added < oldest->second.added))
        oldest = at;
    }
    kept_.erase(oldest);
  }
  if (bytes_of(nullptr) + size > limits_.bytes)
    throw RequestError(507, "the server has no room for further documents; try again later");
  kept_[name] = {std::make_shared<const Download>(std::move(download)), client, now};
  return name;
}

std::shared_ptr<const Download> DownloadStore::find(const std::string& name, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  forget_old(now);
  const auto found = kept_.find(name);
  return found == kept_.end() ? nullptr : found->second.download;
}

void DownloadStore::forget_old(Clock::time_point now) {
  std::erase_if(kept_, [&](const auto& item) { return now - item.second.added >= limits_.life; });
}

/// The bytes of all clients, or of one.
int64_t DownloadStore::bytes_of(const std::string* client) const {
  int64_t bytes = 0;
  for (const auto& [name, kept] : kept_) {
    if (!client || kept.client == *client) bytes += std::ssize(kept.download->bytes);
  }
  return bytes;
}

}  // namespace nmt
