#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "text/codec/codec.h"
#include "text/tokenizer.h"

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

/// Encodes many lines as Tokenizer::encode does, several times as fast where words do not depend on each other: it
/// remembers the ids of words that it met, in some 6 MB. For one thread.
class CachingEncoder {
 public:
  explicit CachingEncoder(const Tokenizer& tokenizer);
  std::vector<int32_t> encode(std::string_view text);

 private:
  void append_ids(std::string_view word);

  const Tokenizer& tokenizer_;
  WordIds words_;
  std::vector<int32_t> ids_;  // of the line at hand
};

/// Encoders of both sides. For one thread.
class CachingEncoders {
 public:
  explicit CachingEncoders(const TextCodec& codec) : source_(codec.source()) {
    if (!codec.joint()) separate_target_.emplace(codec.target());
  }
  CachingEncoder& source() { return source_; }
  CachingEncoder& target() { return separate_target_ ? *separate_target_ : source_; }

 private:
  CachingEncoder source_;
  std::optional<CachingEncoder> separate_target_;
};

}  // namespace nmt
