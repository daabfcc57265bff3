#pragma once

#include <string>
#include <string_view>

namespace nmt {

/// The languages whose rules of the Moses tokenizer are built in.
enum class MosesLanguage { kGerman, kEnglish, kFrench };

/// The language of "de", "en" or "fr". Throws Error for every other code.
MosesLanguage moses_language(std::string_view code);
bool has_moses_rules(std::string_view code);
std::string_view moses_code(MosesLanguage language);
/// "de, en and fr", for messages.
std::string moses_codes();

/// Whether the point after a word belongs to it.
enum class Point {
  kOwnToken,      ///< it ends a sentence, as far as the word can tell
  kPartOfWord,    ///< of an abbreviation: "Dr."
  kBeforeNumber,  ///< where the next word begins with a digit: "No. 5"
};

/// word: without its point. Abbreviations with points inside ("z.B", "e.g") are not listed: the tokenizer tells them by
/// these.
Point point_after(std::string_view word, MosesLanguage language);

}  // namespace nmt
