#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/terms/phrase_trie.h"
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
/// blank or begin with # say nothing. A term is found as whole words, with any white space between them; it has at most
/// 100 words and 1,000 bytes.
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
  /// The characters of the targets of all that find() finds: what the terms put into a translation of the text.
  int64_t inserted_characters(std::string_view text) const;

  const std::vector<Term>& terms() const { return terms_; }
  /// The targets of these terms as terms that stay: for a text that goes on to a further language.
  Glossary of_targets() const;

 private:
  void add(Term term, const std::string& place);
  std::optional<size_t> put(Term term);  ///< the term that has these words already, if there is one

  std::vector<Term> terms_;
  PhraseTrie exact_, in_any_case_;  // by the source's words, as they stand (match_case) and folded
};

/// Whether a phrase stands in a text as words: no letter or digit goes on with it. Beside writing without spaces
/// (Chinese, Thai) it may stand anywhere.
bool stands_as_words(std::string_view text, std::string_view phrase);
/// Whether it stands so at this byte, where the text has it.
bool stands_as_words_at(std::string_view text, std::string_view phrase, size_t at);
/// The first place from `from` on where a phrase stands so; npos where there is none.
size_t find_as_words(std::string_view text, std::string_view phrase, size_t from = 0);

/// Whether a word has this character: a letter, a digit, a mark on one, an underscore.
bool is_of_word(char32_t c);
/// Whether the words of these two, side by side, are one.
bool make_one_word(char32_t before, char32_t after);

}  // namespace nmt
