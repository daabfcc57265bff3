#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nmt {

/// The scripts that a language is written in: of de Latin; of ja Han, Hiragana and Katakana.
class LanguageScripts {
 public:
  /// A code such as de or sr-Latn. All letters are of a language that ICU does not know.
  explicit LanguageScripts(const std::string& language);
  /// Whether a letter is of them, or of no script of its own.
  bool contains(char32_t letter) const;

 private:
  std::vector<int> scripts_;  // UScriptCode
  bool is_latin_;
};

/// The sign that a text ends with, behind which only quotation marks and brackets stand.
enum class EndMark {
  kNone,       ///< a letter or digit, say
  kStatement,  ///< . !
  kQuestion,   ///< ?
  kOpen        ///< , : - more should follow
};

/// What the rules of data.clean ask about one side of a pair, found in one pass over its folded text: Unicode's
/// NFKC_Casefold, so case and width make no difference.
struct TextProfile {
  TextProfile(std::string_view text, const LanguageScripts& scripts);

  std::string_view text;             ///< as it was given, valid UTF-8
  int64_t characters = 0;            ///< without white space
  int64_t letters = 0;               ///< with their marks
  int64_t letters_of_language = 0;   ///< of its scripts
  int64_t longest_run = 0;           ///< how often one letter or one word stands in a row
  std::vector<uint64_t> words;       ///< hashes of the sequences of letters, in order
  std::vector<std::string> numbers;  ///< sorted; decimal digits, without the signs between them: of 1,000.5 "10005"
  EndMark end_mark = EndMark::kNone;
  uint64_t hash = 0;  ///< of all letters, without what stands between them; 0: there is none
};

}  // namespace nmt
