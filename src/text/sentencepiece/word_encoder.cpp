#include "text/sentencepiece/word_encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

namespace nmt {
namespace {

constexpr size_t kHeader = 2;  // the numbers before a word's bytes

uint64_t hash_of(std::string_view word) { return std::hash<std::string_view>()(word); }

/// How many numbers so many bytes fill.
size_t numbers_for(size_t bytes) { return (bytes + sizeof(int32_t) - 1) / sizeof(int32_t); }

}  // namespace

// Place 0 is nobody's. A slot for four numbers: with eight a word, half of the slots are taken when the array is full.
WordIds::WordIds(size_t capacity) : slots_(std::bit_ceil(std::max<size_t>(capacity / 4, 4))), capacity_(capacity) {
  numbers_.reserve(capacity_);
  numbers_.push_back(0);
}

std::optional<std::span<const int32_t>> WordIds::find(std::string_view word) const {
  const uint32_t place = slots_[slot_of(word, hash_of(word))].place;
  if (place == 0) return std::nullopt;
  const auto ids = std::span(numbers_).subspan(place + kHeader + numbers_for(word.size()));
  return ids.first(static_cast<size_t>(numbers_[place + 1]));
}

void WordIds::insert(std::string_view word, std::span<const int32_t> ids) {
  const size_t needed = kHeader + numbers_for(word.size()) + ids.size();
  if (needed + 1 > capacity_) return;
  if (numbers_.size() + needed > capacity_ || 4 * size_ >= 3 * slots_.size()) {
    std::ranges::fill(slots_, Slot{});
    numbers_.resize(1);
    size_ = 0;
  }
  const uint64_t hash = hash_of(word);
  const size_t place = numbers_.size();
  slots_[slot_of(word, hash)] = {static_cast<uint32_t>(hash >> 32), static_cast<uint32_t>(place)};
  numbers_.resize(place + kHeader + numbers_for(word.size()));
  numbers_[place] = static_cast<int32_t>(word.size());
  numbers_[place + 1] = static_cast<int32_t>(ids.size());
  if (!word.empty()) std::memcpy(numbers_.data() + place + kHeader, word.data(), word.size());
  numbers_.insert(numbers_.end(), ids.begin(), ids.end());
  ++size_;
}

size_t WordIds::slot_of(std::string_view word, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (slots_[slot].place != 0 && !(slots_[slot].hash == hash >> 32 && is_at(slots_[slot].place, word)))
    slot = (slot + 1) & mask;
  return slot;
}

bool WordIds::is_at(uint32_t place, std::string_view word) const {
  return static_cast<size_t>(numbers_[place]) == word.size() &&
         std::memcmp(numbers_.data() + place + kHeader, word.data(), word.size()) == 0;
}

namespace {

constexpr size_t kNumbers = 1 << 20;  // 4 MB: some 130,000 words

}  // namespace

WordEncoder::WordEncoder() : words_(kNumbers) {}

}  // namespace nmt
