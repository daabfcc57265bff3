#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/aligned_translation.h"
#include "text/tokenizer.h"

namespace nmt {

/// Phrases, each with a number, by their words: found in a text by as many steps as the longest of them has words
/// there, however many there are.
class PhraseTrie {
 public:
  /// The number of the phrase if it is here already; it keeps that. words: at least one.
  std::optional<size_t> add(std::span<const std::string_view> words, size_t number);

  struct Found {
    size_t words = 0;  ///< of the phrase; 0: none
    size_t number = 0;
  };
  /// The longest phrase that these words begin with.
  Found longest(std::span<const std::string_view> words) const;

 private:
  using Step = std::pair<int32_t, int32_t>;  // a node and a word
  struct StepHash {
    size_t operator()(const Step& step) const {
      return std::hash<uint64_t>()(static_cast<uint64_t>(step.first) << 32 | static_cast<uint32_t>(step.second));
    }
  };

  std::unordered_map<std::string, int32_t, StringHash, std::equal_to<>> words_;
  std::unordered_map<Step, int32_t, StepHash> steps_;  // to the node after the word; 0 is before the first
  std::unordered_map<int32_t, size_t> numbers_;        // of the nodes where a phrase ends
};

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
    ByteRange range;
    size_t term = 0;
  };
  /// The terms in a text, from left to right: of those that begin at a word the longest; none within another.
  std::vector<Match> find(std::string_view text) const;
  /// The characters of the targets of all that find() finds: what the terms put into a translation of the text.
  int64_t inserted_characters(std::string_view text) const;

  const std::vector<Term>& terms() const { return terms_; }
  /// The targets of these terms as terms that stay: for a text that is passed on to a further language.
  Glossary of_targets() const;

 private:
  void add(Term term, const std::string& place);
  std::optional<size_t> put(Term term);  ///< the term that has these words already, if there is one

  std::vector<Term> terms_;
  PhraseTrie exact_, in_any_case_;  // by the source's words, as they stand (match_case) and folded
};

/// Whether a phrase stands in a text as words: no letter or digit continues it. Beside writing without spaces
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
