#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nmt {

/// What an archive of a stranger may ask for.
struct ZipLimits {
  uint64_t unpacked_bytes = UINT64_MAX;  ///< all entries together
  uint64_t ratio = 200;                  ///< unpacked to packed bytes, where they are more than a megabyte
  size_t entries = 10'000;
};

/// A zip archive in memory, read and written by libzip.
class ZipArchive {
 public:
  /// Throws Error for what is damaged or encrypted, for names that leave the folder or stand twice, and for what asks
  /// for more than the limits. Nothing is unpacked yet. `bytes` have to live as long as the archive. `name` is how
  /// errors call it: a file, "the document".
  ZipArchive(std::string_view bytes, std::string name, const ZipLimits& limits);
  ~ZipArchive();
  ZipArchive(ZipArchive&&) noexcept;

  const std::vector<std::string>& names() const;  ///< in the order of the archive
  bool has(const std::string& name) const;
  /// The unpacked bytes of an entry. Its checksum is compared, unless it is 0: torch.save() can be told to write none.
  /// Throws Error if the entry is not there.
  std::string read(const std::string& name) const;

  /// The archive with the bytes of these entries replaced. All other entries keep their packed bytes, and all keep
  /// their order, their time and the way in which they are packed.
  std::string replaced(const std::map<std::string, std::string>& entries) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace nmt
