#include "scoring/metrics/ngrams.h"

#include <algorithm>
#include <cstring>

#include "base/random.h"

namespace nmt::scoring {
namespace {

constexpr size_t kFirstSlots = 512;                          // a power of two
constexpr uint64_t kHashMultiplier = 0x9E3779B97F4A7C15ULL;  // 2^64 / golden ratio (Fibonacci hashing)

/// Eight bytes at a time; words are short.
uint64_t hash_of(std::string_view text) {
  uint64_t hash = text.size();
  while (text.size() >= 8) {
    uint64_t word;
    std::memcpy(&word, text.data(), 8);
    hash = mix64(hash ^ word);
    text.remove_prefix(8);
  }
  uint64_t word = 0;
  for (const char c : text) word = word << 8 | static_cast<uint8_t>(c);
  return mix64(hash * kHashMultiplier ^ word);
}

}  // namespace

SymbolTable::SymbolTable() : slots_(kFirstSlots) {}

void SymbolTable::clear() {
  texts_.clear();
  if (++generation_ == 0) {  // after 2^32 segments
    std::fill(slots_.begin(), slots_.end(), Slot{});
    generation_ = 1;
  }
}

size_t SymbolTable::position(std::string_view text, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t i = hash & mask;
  while (slots_[i].generation == generation_ && (slots_[i].hash != hash || texts_[slots_[i].symbol] != text)) {
    i = (i + 1) & mask;
  }
  return i;
}

uint32_t SymbolTable::find(std::string_view text) const {
  const Slot& slot = slots_[position(text, hash_of(text))];
  return slot.generation == generation_ ? slot.symbol : kUnknown;
}

uint32_t SymbolTable::add(std::string_view text) {
  if (2 * texts_.size() >= slots_.size()) grow();
  const uint64_t hash = hash_of(text);
  Slot& slot = slots_[position(text, hash)];
  if (slot.generation != generation_) {
    slot = {.hash = hash, .symbol = static_cast<uint32_t>(texts_.size()), .generation = generation_};
    texts_.push_back(text);
  }
  return slot.symbol;
}

void SymbolTable::grow() {
  std::vector<Slot> old(2 * slots_.size());
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.generation == generation_) slots_[position(texts_[slot.symbol], slot.hash)] = slot;
  }
}

NgramMatcher::NgramMatcher(int max_order) : max_order_(max_order), slots_(kFirstSlots), nodes_(1) {
  shift_ = 64;
  for (size_t size = 1; size < slots_.size(); size *= 2) --shift_;
}

void NgramMatcher::clear() {
  nodes_.resize(1);
  if (++generation_ == 0) {
    std::fill(slots_.begin(), slots_.end(), Slot{});
    generation_ = 1;
  }
}

size_t NgramMatcher::position(uint64_t key) const {
  const size_t mask = slots_.size() - 1;
  size_t i = (key * kHashMultiplier) >> shift_;
  while (slots_[i].generation == generation_ && slots_[i].key != key) i = (i + 1) & mask;
  return i;
}

void NgramMatcher::grow() {
  std::vector<Slot> old(2 * slots_.size());
  old.swap(slots_);
  --shift_;
  for (const Slot& slot : old) {
    if (slot.generation == generation_) slots_[position(slot.key)] = slot;
  }
}

void NgramMatcher::reset_counts() {
  for (Node& node : nodes_) node.in_this = 0;
}

void NgramMatcher::add_reference(std::span<const uint32_t> symbols) {
  reset_counts();
  for (size_t start = 0; start < symbols.size(); ++start) {
    const size_t end = std::min(symbols.size(), start + max_order_);
    uint32_t node = 0;
    for (size_t i = start; i < end; ++i) {
      if (2 * nodes_.size() >= slots_.size()) grow();
      const uint64_t key = static_cast<uint64_t>(node) << 32 | symbols[i];
      Slot& slot = slots_[position(key)];
      if (slot.generation != generation_) {
        slot = {.key = key, .node = static_cast<uint32_t>(nodes_.size()), .generation = generation_};
        nodes_.emplace_back();
      }
      node = slot.node;
      Node& counts = nodes_[node];
      counts.in_references = std::max(counts.in_references, ++counts.in_this);
    }
  }
}

void NgramMatcher::match(std::span<const uint32_t> symbols, std::span<int64_t> matches) {
  reset_counts();
  std::fill(matches.begin(), matches.end(), 0);
  for (size_t start = 0; start < symbols.size(); ++start) {
    const size_t end = std::min(symbols.size(), start + max_order_);
    uint32_t node = 0;
    for (size_t i = start; i < end; ++i) {
      const Slot& slot = slots_[position(static_cast<uint64_t>(node) << 32 | symbols[i])];
      if (slot.generation != generation_) break;  // nor is any longer n-gram that begins so
      node = slot.node;
      Node& counts = nodes_[node];
      if (counts.in_this == counts.in_references) continue;
      ++counts.in_this;
      ++matches[i - start];
    }
  }
}

}  // namespace nmt::scoring
