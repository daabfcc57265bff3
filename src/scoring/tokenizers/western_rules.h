#pragma once

#include <string>
#include <string_view>

namespace nmt::scoring {

/// The major class of a code point's general category, as far as tokenisation asks for it.
enum class CharacterClass { kOther, kNumber, kPunctuation, kSymbol };

/// The class by the Unicode version of the ICU library; unassigned code points are kOther.
CharacterClass class_of(char32_t c);

/// The substitutions that the tokenisers 13a, zh and Tercom's share. Each is one pass from left to right over matches
/// that do not overlap, as a global regular-expression substitution would do. All classes are ASCII, so they run on
/// UTF-8. Each replaces `out`, which must not be the string that `text` views.

/// Every ASCII symbol but ' , - . gets a space on both sides. (sacreBLEU counts the space itself as one; more spaces
/// beside a space change no token.)
void space_out_symbols(std::string_view text, std::string& out);
/// ([^0-9])([.,]) -> "\1 \2 "
void split_period_after_non_digit(std::string_view text, std::string& out);
/// ([.,])([^0-9]) -> " \1 \2"
void split_period_before_non_digit(std::string_view text, std::string& out);
/// ([0-9])(-) -> "\1 \2 "
void split_dash_after_digit(std::string_view text, std::string& out);

/// All matches of `from`, which is not empty, replaced in place.
void replace_all(std::string& text, std::string_view from, std::string_view to);
/// &quot; &amp; &lt; &gt; unescaped, in this order: "&amp;lt;" becomes "<".
void unescape_xml(std::string& text);

/// The four substitutions above, in this order.
void apply_western_rules(std::string_view text, std::string& out);

struct TerOptions {
  bool normalized = false;      ///< split punctuation, unescape
  bool no_punctuation = false;  ///< delete punctuation
  bool asian_support = false;   ///< with one of the above: East Asian characters too
  bool case_sensitive = false;
};

/// The text preparation of Tercom (Snover et al. 2006): lower case, and on request normalisation and no punctuation.
/// Replaces `out`; the words are what str.split() of Python finds.
void tokenize_tercom(std::string_view line, const TerOptions& options, std::string& out);

}  // namespace nmt::scoring
