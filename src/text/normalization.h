#pragma once

#include <string>
#include <string_view>

namespace nmt {

/// What happens to a text before it is cut into pieces, apart from SentencePiece's own rule.
struct Normalization {
  bool nfkc = false;       ///< Unicode normalisation form KC
  bool lowercase = false;  ///< after it
  /// After these: deletes every character but white space, the letters of the Latin script (Unicode's Script=Latin, so
  /// with diacritics, but no combining mark of its own) and the ASCII apostrophe, as Kyubyong's program of 2017.
  bool latin_only = false;
};

/// White space at both ends removed, then as asked. Bytes that are not UTF-8 become U+FFFD where anything is asked for,
/// and stay (for the tokenizer to take as unknown) elsewhere: any bytes are taken.
std::string normalize(std::string_view text, const Normalization& normalization);

}  // namespace nmt
