#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace nmt::scoring {

/// Numbers distinct keys from 0 on, in the order in which they come: a hash table of open addresses that forgets all of
/// them in no time. hash: Key -> uint64_t, whose upper half is taken.
template <typename Key, uint64_t (*hash)(const Key&)>
class NumberTable {
 public:
  static constexpr uint32_t kUnknown = 0xFFFFFFFF;
  NumberTable() : slots_(512) {}
  void clear() {
    size_ = 0;
    if (++generation_ > 0) return;
    std::fill(slots_.begin(), slots_.end(), Slot{});  // after 2^32 segments
    generation_ = 1;
  }
  uint32_t size() const { return size_; }
  uint32_t find(const Key& key) const {  ///< its number, or kUnknown
    const Slot& slot = slots_[position(key)];
    return slot.generation == generation_ ? slot.number : kUnknown;
  }
  uint32_t add(const Key& key) {  ///< its number, a new one if it was not there
    if (2 * size_ >= slots_.size()) grow();
    Slot& slot = slots_[position(key)];
    if (slot.generation != generation_) slot = {.key = key, .number = size_++, .generation = generation_};
    return slot.number;
  }

 private:
  struct Slot {
    Key key{};
    uint32_t number = 0;
    uint32_t generation = 0;  // of clear(): an older one means empty
  };
  size_t position(const Key& key) const {
    const size_t mask = slots_.size() - 1;
    size_t i = (hash(key) >> 32) & mask;
    while (slots_[i].generation == generation_ && slots_[i].key != key) i = (i + 1) & mask;
    return i;
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.generation == generation_) slots_[position(slot.key)] = slot;
  }
  std::vector<Slot> slots_;  // a power of two
  uint32_t size_ = 0, generation_ = 1;
};

constexpr uint64_t kHashMultiplier = 0x9E3779B97F4A7C15ULL;  ///< 2^64 / golden ratio (Fibonacci hashing)

uint64_t hash_of_word(const std::string_view& word);
inline uint64_t hash_of_ngram(const uint64_t& key) { return key * kHashMultiplier; }

/// Numbers the distinct strings of a segment. Views must outlive the table's use.
using SymbolTable = NumberTable<std::string_view, hash_of_word>;

/// Counts the n-grams that a hypothesis shares with references, for all orders from 1 to max_order at once.
/// An n-gram is a node: the node of its first n-1 symbols and the last symbol. Equal nodes are equal n-grams: no hash
/// decides.
class NgramMatcher {
 public:
  explicit NgramMatcher(int max_order) : max_order_(max_order), nodes_(1) {}
  void clear();
  /// Takes a reference in. Of several, the largest count of each n-gram holds (clipping of BLEU).
  void add_reference(std::span<const uint32_t> symbols);
  /// matches[n - 1]: n-grams of the hypothesis found in the references, each counted at most as often as there.
  void match(std::span<const uint32_t> symbols, std::span<int64_t> matches);

 private:
  struct Node {
    uint32_t in_references = 0;  // the largest count of one reference
    uint32_t in_this = 0;        // of the reference or hypothesis at hand
  };
  void reset_counts();
  int max_order_;
  NumberTable<uint64_t, hash_of_ngram> ngrams_;  // node of the prefix << 32 | symbol -> node - 1
  std::vector<Node> nodes_;                      // nodes_[0]: the empty n-gram
};

/// The same of words, which are views that outlive the segment.
class WordMatcher {
 public:
  explicit WordMatcher(int max_order) : ngrams_(max_order) {}
  void clear();
  void add_reference(std::span<const std::string_view> words);
  void match(std::span<const std::string_view> words, std::span<int64_t> matches);

 private:
  SymbolTable numbers_;
  NgramMatcher ngrams_;
  std::vector<uint32_t> symbols_;
};

/// Which of two references counts whose lengths are as close to that of the hypothesis.
enum class ClosestLength { kShorter, kFirst };

/// The statistics of BLEU for one segment: length of the hypothesis, closest length of a reference, matches 1 .. N,
/// n-grams 1 .. N.
class BleuCounter {
 public:
  explicit BleuCounter(int max_order, ClosestLength closest = ClosestLength::kShorter)
      : words_(max_order), matches_(max_order), closest_(closest) {}
  void clear();
  void add_reference(std::span<const std::string_view> words);
  void count(std::span<const std::string_view> words, std::span<double> out);

 private:
  WordMatcher words_;
  std::vector<int64_t> reference_lengths_, matches_;
  ClosestLength closest_;
};

}  // namespace nmt::scoring
