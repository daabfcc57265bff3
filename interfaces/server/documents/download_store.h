#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace nmt {

/// A document that waits to be fetched.
struct Download {
  std::string bytes;
  std::string file_name;  ///< as the client called it
  std::string media_type;
};

struct DownloadLimits {
  int64_t bytes = 256 << 20;        ///< of all documents; one client may have a quarter of them
  std::chrono::seconds life{3600};  ///< after which a document is gone
};

/// Keeps translated documents in memory until they are fetched or too old, under names that nobody can guess. Any
/// thread may call it.
class DownloadStore {
 public:
  using Clock = std::chrono::steady_clock;

  explicit DownloadStore(DownloadLimits limits = {}) : limits_(limits) {}

  /// The name under which find() has it: 32 hexadecimal digits and the extension of its file. A client whose share is
  /// full loses its oldest documents. Throws RequestError: 413 where it is larger than a client's share, 507 where
  /// other clients fill the store.
  std::string add(Download download, const std::string& client, Clock::time_point now = Clock::now());
  /// Null where there is none, or not any more.
  std::shared_ptr<const Download> find(const std::string& name, Clock::time_point now = Clock::now());

 private:
  struct Kept {
    std::shared_ptr<const Download> download;
    std::string client;
    Clock::time_point added;
  };
  void forget_old(Clock::time_point now);
  int64_t bytes_of(const std::string* client) const;

  const DownloadLimits limits_;
  std::mutex mutex_;
  std::map<std::string, Kept> kept_;
};

}  // namespace nmt
