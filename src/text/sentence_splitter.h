#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nmt {

/// True where a text has something to translate: a letter of any script.
bool has_letters(std::string_view text);

/// Finds the sentences of running text by the rules of Unicode (UAX #29), the abbreviations that ICU knows of a
/// language, and some more. Beyond these, no sentence ends after single letters ("z. B.", "U.S.", "J. S. Bach") nor, in
/// languages that write ordinal numbers so, after one or two digits ("am 3. Oktober"). A sentence begins with a capital
/// letter in scripts that have them: lower-cased text stays whole. Closing quotation marks and brackets belong to the
/// sentence before them, also behind a space (French), and what has no letter (a number, a smiley) to one beside it.
class SentenceSplitter {
 public:
  /// language: as in BCP 47 ("de", "pt-BR"); what ICU does not know gets the rules of all languages.
  explicit SentenceSplitter(std::string_view language);
  ~SentenceSplitter();
  SentenceSplitter(SentenceSplitter&&) noexcept;
  SentenceSplitter& operator=(SentenceSplitter&&) noexcept;

  /// The sentences of a text in their order, without white space at their ends, none empty. Any bytes are taken.
  /// Thread-safe.
  std::vector<std::string_view> split(std::string_view text) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace nmt
