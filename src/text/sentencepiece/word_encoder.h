#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace nmt {

/// A bounded map from words to their ids: a hash table of open addresses over one array that holds words and ids one
/// behind the other. A look-up touches two places in memory, and nothing is allocated for a word.
class WordIds {
 public:
  /// Takes 4 bytes for each of the `capacity` numbers of the array, and half as much for the table. A word takes 2
  /// numbers, its bytes and its ids: some 8.
  explicit WordIds(size_t capacity);

  /// nullopt where the word is not known. Valid until the next insert().
  std::optional<std::span<const int32_t>> find(std::string_view word) const;
  /// word: not known yet. Forgets all others when there is no space; does nothing for what is larger than the array.
  void insert(std::string_view word, std::span<const int32_t> ids);
  size_t size() const { return size_; }

 private:
  struct Slot {
    uint32_t hash = 0;   // its upper half
    uint32_t place = 0;  // in numbers_; 0: free
  };
  size_t slot_of(std::string_view word, uint64_t hash) const;  // where it stands, or the free slot where it belongs
  bool is_at(uint32_t place, std::string_view word) const;

  std::vector<Slot> slots_;
  std::vector<int32_t> numbers_;  // of each word: its size in bytes, how many ids; the bytes, filled up; the ids
  size_t capacity_, size_ = 0;
};

/// Encodes lines whose words, what stands between spaces, do not depend on each other, several times as fast as all at
/// once: it remembers the ids of words that it met, in some 6 MB. For one thread.
class WordEncoder {
 public:
  WordEncoder();

  /// encode_word: text -> ids. Always the same one.
  template <typename EncodeWord>
  std::vector<int32_t> encode(std::string_view text, const EncodeWord& encode_word) {
    std::vector<int32_t> ids;
    while (!text.empty()) {
      const std::string_view word = text.substr(0, text.find(' '));
      text.remove_prefix(std::min(text.size(), word.size() + 1));
      if (word.empty()) continue;
      if (const auto known = words_.find(word)) {
        ids.insert(ids.end(), known->begin(), known->end());
        continue;
      }
      const std::vector<int32_t> own = encode_word(word);
      ids.insert(ids.end(), own.begin(), own.end());
      if (word.size() <= kLongestWord) words_.insert(word, own);
    }
    return ids;
  }

 private:
  static constexpr size_t kLongestWord = 64;  // bytes: longer ones hardly come twice
  WordIds words_;
};

}  // namespace nmt
