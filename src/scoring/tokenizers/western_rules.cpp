#include "scoring/tokenizers/western_rules.h"

#include <unicode/uchar.h>

#include <array>
#include <cstdint>
#include <functional>

#include "base/unicode.h"

namespace nmt::scoring {

CharacterClass class_of(char32_t c) {
  const uint32_t mask = U_GET_GC_MASK(static_cast<UChar32>(c));
  if (mask & U_GC_P_MASK) return CharacterClass::kPunctuation;
  if (mask & U_GC_S_MASK) return CharacterClass::kSymbol;
  if (mask & U_GC_N_MASK) return CharacterClass::kNumber;
  return CharacterClass::kOther;
}

namespace {

enum ByteClass : uint8_t { kOther = 0, kSymbol = 1, kDigit = 2, kPeriod = 4 };

constexpr std::array<uint8_t, 256> make_classes() {
  std::array<uint8_t, 256> classes{};
  const auto mark = [&](int first, int last, uint8_t value) {
    for (int c = first; c <= last; ++c) classes[c] |= value;
  };
  mark('{', '~', kSymbol);
  mark('[', '`', kSymbol);
  mark('!', '&', kSymbol);
  mark('(', '+', kSymbol);
  mark(':', '@', kSymbol);
  mark('/', '/', kSymbol);
  mark('0', '9', kDigit);
  mark('.', '.', kPeriod);
  mark(',', ',', kPeriod);
  return classes;
}
constexpr auto kClasses = make_classes();

bool is(char c, ByteClass wanted) { return kClasses[static_cast<uint8_t>(c)] & wanted; }

/// Runs `pass(in, end, out)`, which returns the end of what it wrote, with space for `growth` bytes a byte of text.
template <typename ForwardContext>
void rewrite(std::string_view text, size_t growth, std::string& out, ForwardContext pass) {
  out.resize(text.size() * growth);
  const char* end = pass(text.data(), text.data() + text.size(), out.data());
  out.resize(end - out.data());
}

}  // namespace

void space_out_symbols(std::string_view text, std::string& out) {
  rewrite(text, 3, out, [](const char* in, const char* end, char* to) {
    for (; in != end; ++in) {
      if (is(*in, kSymbol)) {
        *to++ = ' ';
        *to++ = *in;
        *to++ = ' ';
      } else {
        *to++ = *in;
      }
    }
    return to;
  });
}

namespace {

/// (first)(second) -> "\1 \2 "
template <typename First, typename Second>
void split_second(std::string_view text, std::string& out, First is_first, Second is_second) {
  rewrite(text, 2, out, [&](const char* in, const char* end, char* to) {
    while (in != end) {
      const char c = *in++;
      *to++ = c;
      if (in != end && is_second(*in) && is_first(c)) {
        *to++ = ' ';
        *to++ = *in++;
        *to++ = ' ';
      }
    }
    return to;
  });
}

bool is_digit(char c) { return is(c, kDigit); }

}  // namespace

void split_period_after_non_digit(std::string_view text, std::string& out) {
  split_second(text, out, std::not_fn(is_digit), [](char c) { return is(c, kPeriod); });
}

void split_dash_after_digit(std::string_view text, std::string& out) {
  split_second(text, out, is_digit, [](char c) { return c == '-'; });
}

void split_period_before_non_digit(std::string_view text, std::string& out) {
  rewrite(text, 2, out, [](const char* in, const char* end, char* to) {
    while (in != end) {
      const char c = *in++;
      if (in != end && is(c, kPeriod) && !is(*in, kDigit)) {
        *to++ = ' ';
        *to++ = c;
        *to++ = ' ';
        *to++ = *in++;
      } else {
        *to++ = c;
      }
    }
    return to;
  });
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  size_t at = text.find(from);
  if (at == std::string::npos) return;
  std::string out;
  size_t copied = 0;
  for (; at != std::string::npos; at = text.find(from, copied)) {
    out.append(text, copied, at - copied).append(to);
    copied = at + from.size();
  }
  text = out.append(text, copied);
}

void unescape_xml(std::string& text) {
  replace_all(text, "&quot;", "\"");
  replace_all(text, "&amp;", "&");
  replace_all(text, "&lt;", "<");
  replace_all(text, "&gt;", ">");
}

void apply_western_rules(std::string_view text, std::string& out) {
  std::string other;
  space_out_symbols(text, other);
  split_period_after_non_digit(other, out);
  if (text.find('-') == std::string_view::npos) {  // no dash to split
    other.swap(out);
    split_period_before_non_digit(other, out);
    return;
  }
  split_period_before_non_digit(out, other);
  split_dash_after_digit(other, out);
}

namespace {

bool between(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

bool is_asian_punctuation(char32_t c) {
  return c == 0x3001 || c == 0x3002 || between(c, 0x3008, 0x3011) || between(c, 0x3014, 0x301F) ||
         between(c, 0xFF61, 0xFF65) || c == 0x30FB;
}

bool is_full_width_punctuation(char32_t c) {
  return c == 0xFF0E || c == 0xFF0C || c == 0xFF1F || c == 0xFF1A || c == 0xFF1B || c == 0xFF01 || c == 0xFF02 ||
         c == 0xFF08 || c == 0xFF09;
}

/// Characters that stand alone. Ranges as in sacreBLEU: the last takes in 3200 to 3F22, far beyond the block of
/// enclosed letters, and kana stay together, because the rules for them there match nothing.
bool is_asian_character(char32_t c) {
  return between(c, 0x4E00, 0x9FFF) || between(c, 0x3400, 0x4DBF) || between(c, 0x31C0, 0x31EF) ||
         between(c, 0x2E80, 0x2EFF) || between(c, 0x3300, 0x33FF) || between(c, 0xF900, 0xFAFF) ||
         between(c, 0xFE30, 0xFE4F) || between(c, 0x3200, 0x3F22);
}

void normalize_western(std::string& text) {
  replace_all(text, "\n-", "");
  replace_all(text, "\n", " ");
  unescape_xml(text);
  text.insert(0, 1, ' ').append(1, ' ');
  std::string other;
  space_out_symbols(text, other);
  replace_all(other, "'s ", " 's ");
  split_period_after_non_digit(other, text);
  split_period_before_non_digit(text, other);
  split_dash_after_digit(other, text);
}

/// How often a character may get spaces round it does not matter: the words are the same.
void space_out_asian(std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t start = i;
    const char32_t c = next_code_point(text, i);
    const bool alone = is_asian_character(c) || is_asian_punctuation(c) || is_full_width_punctuation(c);
    if (alone) out += ' ';
    out.append(text, start, i - start);
    if (alone) out += ' ';
  }
  text.swap(out);
}

void remove_punctuation(std::string& text, bool asian) {
  constexpr std::string_view kPunctuation = ".,?:;!\"()";
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t start = i;
    const char32_t c = next_code_point(text, i);
    if (c < 0x80 && kPunctuation.find(static_cast<char>(c)) != std::string_view::npos) continue;
    if (asian && (is_asian_punctuation(c) || is_full_width_punctuation(c))) continue;
    out.append(text, start, i - start);
  }
  text.swap(out);
}

}  // namespace

void tokenize_tercom(std::string_view line, const TerOptions& options, std::string& out) {
  line = strip_end(line);
  if (options.case_sensitive) {
    out.assign(line);
  } else {
    out = lower_case(line);
  }
  if (out.empty()) return;
  if (options.normalized) {
    normalize_western(out);
    if (options.asian_support) space_out_asian(out);
  }
  if (options.no_punctuation) remove_punctuation(out, options.asian_support);
}

}  // namespace nmt::scoring
