#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/string_hash.h"
#include "text/terms/text_range.h"

namespace nmt {

/// How the words of a source text are to be translated.
struct Term {
  std::string source, target;  ///< no target: the words stay as they are
  bool match_case = false;     ///< else a text may have it in any case
};

/// A list of terms: what a text's words are to become, whatever a model would write.
///
/// A file of them has a line a term: source, a tab, target, and perhaps a tab and flags, divided by commas: `case` (the
/// text has the source in this case only), `keep` (stays as it is in the text; the target is left out). Lines that are
/// blank or begin with # say nothing. A term is found as whole words, with any white space between them.
class Glossary {
 public:
  /// name: of the file or the field, for errors. Throws Error ("NAME:LINE: ...") for what is not as it should be.
  static Glossary parse(std::string_view tsv, const std::string& name);
  static Glossary read(const std::filesystem::path& file);  ///< the same, and for a file that cannot be read

  struct Match {
    TextRange range;
    size_t term = 0;
  };
  /// The terms in a text, from left to right: of those that begin at a word the longest; none within another.
  std::vector<Match> find(std::string_view text) const;

  const std::vector<Term>& terms() const { return terms_; }
  /// The targets of these terms as terms that stay: for a text that goes on to a further language.
  Glossary of_targets() const;

 private:
  void add(Term term, const std::string& place);

  std::vector<Term> terms_;
  std::vector<std::vector<std::string>> words_;  // of each term's source, folded
  // By the first word: the terms that begin with it, the longest first.
  std::unordered_map<std::string, std::vector<size_t>, StringHash, std::equal_to<>> by_first_word_;
};

/// Whether a phrase stands in a text as words: no letter or digit goes on with it. Beside writing without spaces
/// (Chinese, Thai) it may stand anywhere.
bool stands_as_words(std::string_view text, std::string_view phrase);

}  // namespace nmt
