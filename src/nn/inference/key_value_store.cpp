#include "nn/inference/key_value_store.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace nmt::inference {

void store_as(kernels::Type type, const float* from, int64_t count, void* to) {
  if (type == kernels::Type::kFloat) {
    std::memcpy(to, from, count * sizeof(float));
    return;
  }
  auto* halves = static_cast<uint16_t*>(to);
  for (int64_t i = 0; i < count; ++i) {
    uint32_t bits;
    std::memcpy(&bits, from + i, sizeof bits);
    const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    halves[i] = static_cast<uint16_t>(from[i] != from[i] ? 0x7fc0 : rounded);
  }
}

KeyValueStore::KeyValueStore(int64_t layers, int64_t features, kernels::Type type, int64_t rows)
    : layers_(layers), features_(features), element_(bytes_of(type)), type_(type), lengths_(rows, 0) {}

void KeyValueStore::select(std::span<const int64_t> rows) {
  std::vector<int32_t> slots(rows.size() * capacity_);
  std::vector<int64_t> lengths;
  for (size_t r = 0; r < rows.size(); ++r) {
    lengths.push_back(lengths_[rows[r]]);
    std::copy_n(slots_.begin() + rows[r] * capacity_, lengths.back(), slots.begin() + r * capacity_);
  }
  slots_ = std::move(slots);
  lengths_ = std::move(lengths);
}

void KeyValueStore::join(KeyValueStore&& other) {
  const auto first_slot = static_cast<int32_t>(chunks_.size() * kChunk);
  const int64_t own_rows = std::ssize(lengths_), capacity = std::max(capacity_, other.capacity_);
  std::vector<int32_t> slots((own_rows + std::ssize(other.lengths_)) * capacity);
  for (int64_t r = 0; r < own_rows; ++r)
    std::copy_n(slots_.begin() + r * capacity_, lengths_[r], slots.begin() + r * capacity);
  for (int64_t r = 0; r < std::ssize(other.lengths_); ++r)
    std::transform(other.slots_.begin() + r * other.capacity_,
                   other.slots_.begin() + r * other.capacity_ + other.lengths_[r],
                   slots.begin() + (own_rows + r) * capacity, [&](int32_t slot) { return first_slot + slot; });
  slots_ = std::move(slots);
  capacity_ = capacity;
  std::ranges::copy(other.lengths_, std::back_inserter(lengths_));
  std::ranges::transform(other.free_, std::back_inserter(free_), [&](int32_t slot) { return first_slot + slot; });
  std::ranges::move(other.chunks_, std::back_inserter(chunks_));
}

void KeyValueStore::append(int64_t n) {
  const int64_t rows = std::ssize(lengths_), needed = rows * n;
  if (needed == 0) return;
  const int64_t longest = *std::ranges::max_element(lengths_) + n;
  if (longest > capacity_) {
    const int64_t capacity = std::max<int64_t>({32, 2 * capacity_, longest});
    std::vector<int32_t> wider(rows * capacity);
    for (int64_t r = 0; r < rows; ++r)
      std::copy_n(slots_.begin() + r * capacity_, lengths_[r], wider.begin() + r * capacity);
    slots_ = std::move(wider);
    capacity_ = capacity;
  }
  if (std::ssize(free_) < needed) {
    free_unused();
    // Many free ones: so few steps have to look which ones are.
    const int64_t used = std::ssize(chunks_) * kChunk - std::ssize(free_);
    const int64_t wanted = std::max(needed, used / 2);
    while (std::ssize(free_) < wanted) add_chunk();
  }
  for (int64_t token = 0; token < n; ++token) {
    for (int64_t r = 0; r < rows; ++r) {
      slots_[r * capacity_ + lengths_[r] + token] = free_.back();
      free_.pop_back();
    }
  }
  for (auto& length : lengths_) length += n;
}

void KeyValueStore::free_unused() {
  std::vector<bool> used(chunks_.size() * kChunk);
  for (size_t r = 0; r < lengths_.size(); ++r)
    for (int64_t i = 0; i < lengths_[r]; ++i) used[slots_[static_cast<int64_t>(r) * capacity_ + i]] = true;
  free_.clear();
  for (auto slot = static_cast<int32_t>(used.size()) - 1; slot >= 0; --slot)
    if (!used[slot]) free_.push_back(slot);
}

void KeyValueStore::add_chunk() {
  const auto first = static_cast<int32_t>(chunks_.size() * kChunk);
  chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(layers_ * kChunk * features_ * element_));
  std::vector<int32_t> slots;
  for (int32_t i = kChunk - 1; i >= 0; --i) slots.push_back(first + i);
  free_.insert(free_.begin(), slots.begin(), slots.end());  // those that there were come first
}

}  // namespace nmt::inference
