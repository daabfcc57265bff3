#pragma once

#include <string>
#include <string_view>

namespace nmt::scoring {

/// A tokeniser of BLEU: text in, text out, whose tokens are what Python's str.split() finds.
/// Objects are immutable and may be used by several threads.
class BleuTokenizer {
 public:
  virtual ~BleuTokenizer() = default;
  /// Replaces `out` by the tokenised line. Throws nmt::Error if the line is not UTF-8 and the tokeniser must know.
  virtual void tokenize(std::string_view line, std::string& out) const = 0;
  virtual std::string signature() const = 0;  ///< "13a", "flores200", "ja-mecab-0.996-IPA"

  std::string tokenize(std::string_view line) const;
};

}  // namespace nmt::scoring
