#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace nmt::scoring {

/// Numbers the distinct strings of a segment from 0 on. Views must outlive the table's use.
class SymbolTable {
 public:
  static constexpr uint32_t kUnknown = 0xFFFFFFFF;
  SymbolTable();
  void clear();
  uint32_t add(std::string_view text);         ///< its number, a new one if it was not there
  uint32_t find(std::string_view text) const;  ///< its number, or kUnknown

 private:
  struct Slot {
    uint64_t hash = 0;
    uint32_t symbol = 0;
    uint32_t generation = 0;  // of clear(): an older one means empty
  };
  size_t position(std::string_view text, uint64_t hash) const;
  void grow();
  std::vector<Slot> slots_;
  std::vector<std::string_view> texts_;
  uint32_t generation_ = 1;
};

/// Counts the n-grams that a hypothesis shares with references, for all orders from 1 to max_order at once.
/// An n-gram is a node: the node of its first n-1 symbols and the last symbol. Equal nodes are equal n-grams: no hash
/// decides.
class NgramMatcher {
 public:
  explicit NgramMatcher(int max_order);
  void clear();
  /// Takes a reference in. Of several, the largest count of each n-gram holds (clipping of BLEU).
  void add_reference(std::span<const uint32_t> symbols);
  /// matches[n - 1]: n-grams of the hypothesis found in the references, each counted at most as often as there.
  void match(std::span<const uint32_t> symbols, std::span<int64_t> matches);

 private:
  struct Slot {
    uint64_t key = 0;  // node of the prefix << 32 | symbol
    uint32_t node = 0;
    uint32_t generation = 0;
  };
  struct Node {
    uint32_t in_references = 0;  // the largest count of one reference
    uint32_t in_this = 0;        // of the reference or hypothesis at hand
  };
  size_t position(uint64_t key) const;
  void grow();
  void reset_counts();
  int max_order_;
  std::vector<Slot> slots_;
  std::vector<Node> nodes_;  // nodes_[0]: the empty n-gram
  int shift_;                // 64 - log2(slots)
  uint32_t generation_ = 1;
};

}  // namespace nmt::scoring
