#pragma once

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
}  // namespace nmt
