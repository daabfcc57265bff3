#pragma once

#include <string>
#include <string_view>

#include "text/moses/moses_language.h"

namespace nmt {

/// Cuts German, English and French text into tokens as the Moses toolkit's tokenizer.perl does, in the version of the
/// Python package sacremoses 0.2.0: the same bytes for every line. Published "tokenised BLEU" counts such tokens.
class MosesTokenizer {
 public:
  struct Options {
    bool aggressive_dash_splits = false;  ///< "foo-bar" -> "foo @-@ bar"
    bool escape = true;                   ///< & | < > ' " [ ] as XML entities ("&apos;"), which Moses needs
  };

  explicit MosesTokenizer(MosesLanguage language) : MosesTokenizer(language, Options()) {}
  MosesTokenizer(MosesLanguage language, Options options) : language_(language), options_(options) {}

  /// The tokens of one line between spaces. Any bytes are taken: control characters are deleted, what is not UTF-8
  /// becomes U+FFFD. As there, a line that ends in .' gets spaces around both and the word "DOTMULTI" becomes ".".
  /// Takes time in proportion to the line.
  std::string tokenize(std::string_view line) const;

 private:
  MosesLanguage language_;
  Options options_;
};

}  // namespace nmt
