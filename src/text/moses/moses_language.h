#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace nmt {

/// The classes of characters that the Moses tokenizer and detokenizer ask for, as sacremoses 0.2.0 has them: those of
/// Unicode 7.0 to 9.0, mostly of the basic plane, without Han and Hangul among the letters. They stay as they are
/// whatever Unicode the machine's ICU knows.
namespace moses {

bool is_letter(char32_t c);          ///< of the detokenizer: Alphabetic
bool is_letter_or_mark(char32_t c);  ///< of the tokenizer: virama and nukta signs too
bool is_letter_mark_or_digit(char32_t c);
bool is_number(char32_t c);  ///< any kind (N), Roman numerals, which are letters too, among them
bool is_lower_case(char32_t c);
bool is_currency(char32_t c);
bool is_ideograph(char32_t c);  ///< of Chinese, Japanese and Korean writing, in a wide sense

}  // namespace moses

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

/// What Moses writes for a character, and what it reads: &bar; &bra; and &ket; are of older versions.
inline constexpr std::array<std::pair<std::u32string_view, char32_t>, 11> kMosesEntities = {{{U"&amp;", U'&'},
                                                                                             {U"&#124;", U'|'},
                                                                                             {U"&bar;", U'|'},
                                                                                             {U"&lt;", U'<'},
                                                                                             {U"&gt;", U'>'},
                                                                                             {U"&apos;", U'\''},
                                                                                             {U"&quot;", U'"'},
                                                                                             {U"&#91;", U'['},
                                                                                             {U"&bra;", U'['},
                                                                                             {U"&#93;", U']'},
                                                                                             {U"&ket;", U']'}}};

}  // namespace nmt
