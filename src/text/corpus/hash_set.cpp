#include "text/corpus/hash_set.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/files/file_descriptor.h"
#include "base/files/partial_name.h"
#include "base/random.h"

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

namespace {

/// 0 marks a free slot.
uint64_t never_zero(uint64_t hash) { return hash == 0 ? 1 : hash; }

}  // namespace

uint64_t hash_of_text(std::string_view text) {
  uint64_t hash = mix64(text.size() + 0x9e3779b97f4a7c15ULL);
  while (!text.empty()) {
    uint64_t word = 0;
    const size_t count = text.size() < sizeof word ? text.size() : sizeof word;
    std::memcpy(&word, text.data(), count);
    hash = mix64(hash * 0x9e3779b97f4a7c15ULL + mix64(word ^ 0xd6e8feb86659fd93ULL));
    text.remove_prefix(count);
  }
  return hash;
}

bool HashSet::insert(uint64_t hash) {
  hash = never_zero(hash);
  size_t slot = slot_of(hash);
  if (slots_[slot] == hash || (file_ && file_->contains(hash))) return false;
  if (static_cast<size_t>(size_) * 3 >= slots_.size() * 2) {
    grow();
    slot = slot_of(hash);
  }
  slots_[slot] = hash;
  if (++size_ >= most_in_memory_) move_to_file();
  return true;
}

bool HashSet::contains(uint64_t hash) const {
  hash = never_zero(hash);
  return slots_[slot_of(hash)] == hash || (file_ && file_->contains(hash));
}

size_t HashSet::slot_of(uint64_t hash) const {
  const size_t mask = slots_.size() - 1;  // a power of two
  size_t slot = hash & mask;
  while (slots_[slot] != 0 && slots_[slot] != hash) slot = (slot + 1) & mask;
  return slot;
}

void HashSet::grow() {
  std::vector<uint64_t> old(slots_.size() * 2);
  old.swap(slots_);
  for (const uint64_t hash : old) {
    if (hash != 0) slots_[slot_of(hash)] = hash;
  }
}

// In place: the slots become the sorted list for a moment.
void HashSet::move_to_file() {
  const size_t slots = slots_.size();
  std::erase(slots_, 0);
  std::ranges::sort(slots_);
  file_ = HashFile::merge(folder_, file_.get(), slots_);
  slots_.clear();
  slots_.resize(slots);
  size_ = 0;
}

}  // namespace nmt
