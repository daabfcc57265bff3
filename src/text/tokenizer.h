#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nmt {

/// The hash of maps from std::string in which a std::string_view is looked up as it is.
struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  ///< U+2581: a space in SentencePiece's pieces

/// The ids that every vocabulary of the toolkit has.
struct SpecialIds {
  static constexpr int32_t kPad = 0, kUnknown = 1, kBegin = 2, kEnd = 3;  // <pad> <unk> <s> </s>
};

/// Text to ids and back, for one language or for both. Thread-safe.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual int64_t size() const = 0;
  /// Ids of the pieces of one line, without <s> and </s>. Any bytes are taken; what is not UTF-8 becomes <unk> pieces.
  virtual std::vector<int32_t> encode(std::string_view text) const = 0;
  /// Text of pieces; <pad>, <s> and </s> are skipped, <unk> is written as it stands in the vocabulary.
  virtual std::string decode(std::span<const int32_t> ids) const = 0;
  virtual std::string piece(int32_t id) const = 0;  ///< throws Error for an id out of range
};

}  // namespace nmt
