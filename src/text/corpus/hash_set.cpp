#include "text/corpus/hash_set.h"

#include <algorithm>
#include <cstring>

#include "base/files/file.h"
#include "base/files/partial_name.h"
#include "base/random.h"

namespace nmt {
namespace {

constexpr size_t kPage = 4096 / sizeof(uint64_t);  // hashes

}  // namespace

std::unique_ptr<HashFile> HashFile::merge(const std::filesystem::path& folder, const HashFile* old,
                                          std::span<const uint64_t> added) {
  const auto path = partial_name(folder / "hashes");
  AtomicFile file(path);
  const auto write = [&](std::span<const uint64_t> hashes) {
    file.write({reinterpret_cast<const char*>(hashes.data()), hashes.size_bytes()});
  };
  auto rest = old ? old->hashes() : std::span<const uint64_t>();
  for (const uint64_t hash : added) {
    const auto behind = std::ranges::find_if(rest, [&](uint64_t other) { return other > hash; }) - rest.begin();
    write(rest.first(static_cast<size_t>(behind)));
    rest = rest.subspan(static_cast<size_t>(behind));
    write({&hash, 1});
  }
  write(rest);
  file.commit();
  std::unique_ptr<HashFile> merged(new HashFile(path));
  std::filesystem::remove(path);
  return merged;
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
