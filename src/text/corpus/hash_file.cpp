#include "text/corpus/hash_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/error.h"
#include "base/files/file_descriptor.h"
#include "base/files/partial_name.h"

namespace nmt {
namespace {

constexpr size_t kPage = 4096 / sizeof(uint64_t);  // hashes
constexpr size_t kBuffer = 1 << 17;                // hashes

/// A file in the making, whose name goes with the object.
class Writer {
 public:
  explicit Writer(const std::filesystem::path& folder) {
    auto made = make_partial_file(folder / "hashes", S_IRUSR | S_IWUSR);
    path_ = std::move(made.path);
    file_ = made.descriptor.number() < 0 ? nullptr : ::fdopen(made.descriptor.number(), "wb");
    if (!file_) fail();
    made.descriptor.release();
    buffer_.reserve(kBuffer);
  }
  ~Writer() {
    if (file_) std::fclose(file_);
    ::unlink(path_.c_str());
  }
  Writer(const Writer&) = delete;

  void add(uint64_t hash) {
    buffer_.push_back(hash);
    if (buffer_.size() == kBuffer) flush();
  }
  const std::filesystem::path& finish() {
    flush();
    if (std::fclose(std::exchange(file_, nullptr)) != 0) fail();
    return path_;
  }

 private:
  void flush() {
    if (std::fwrite(buffer_.data(), sizeof(uint64_t), buffer_.size(), file_) != buffer_.size()) fail();
    buffer_.clear();
  }
  [[noreturn]] void fail() const {
    throw MachineError(fmt::format("{}: cannot write ({})", path_.string(), system_message(errno)));
  }
  std::filesystem::path path_;
  std::FILE* file_ = nullptr;
  std::vector<uint64_t> buffer_;
};

}  // namespace

std::unique_ptr<HashFile> HashFile::merge(const std::filesystem::path& folder, const HashFile* old,
                                          std::span<const uint64_t> added) {
  Writer writer(folder);
  auto from_old = old ? old->hashes() : std::span<const uint64_t>();
  for (const uint64_t hash : added) {
    for (; !from_old.empty() && from_old.front() < hash; from_old = from_old.subspan(1)) writer.add(from_old.front());
    writer.add(hash);
  }
  for (const uint64_t hash : from_old) writer.add(hash);
  return std::unique_ptr<HashFile>(new HashFile(writer.finish()));
}

HashFile::HashFile(const std::filesystem::path& path) : file_(path) {
  for (size_t i = 0; i < hashes().size(); i += kPage) first_of_page_.push_back(hashes()[i]);
}

bool HashFile::contains(uint64_t hash) const {
  const auto page = std::ranges::upper_bound(first_of_page_, hash) - first_of_page_.begin();
  if (page == 0) return false;
  const auto rest = hashes().subspan(static_cast<size_t>(page - 1) * kPage);
  return std::ranges::binary_search(rest.first(std::min(kPage, rest.size())), hash);
}

std::span<const uint64_t> HashFile::hashes() const {
  const auto bytes = file_.bytes();
  return {reinterpret_cast<const uint64_t*>(bytes.data()), bytes.size() / sizeof(uint64_t)};
}

}  // namespace nmt
