#pragma once

#include <string>
#include <string_view>

#include "text/moses/moses_language.h"

namespace nmt {

/// Joins the tokens of MosesTokenizer to text as the Moses toolkit's detokenizer.perl does, in the version of the
/// Python package sacremoses 0.2.0: the same bytes for every line.
class MosesDetokenizer {
 public:
  struct Options {
    bool unescape = true;  ///< XML entities
  };

  explicit MosesDetokenizer(MosesLanguage language) : MosesDetokenizer(language, Options()) {}
  MosesDetokenizer(MosesLanguage language, Options options) : language_(language), options_(options) {}

  /// Text of the tokens, which stand between white space. Any bytes are taken; what is not UTF-8 becomes U+FFFD.
  std::string detokenize(std::string_view tokens) const;

 private:
  MosesLanguage language_;
  Options options_;
};

}  // namespace nmt
