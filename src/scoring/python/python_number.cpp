#include "scoring/python/python_number.h"

#include <fmt/format.h>
#include <locale.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/code_points.h"
#include "base/error.h"
#include "base/unicode.h"

namespace nmt::scoring {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The text without the underscores that stand between two digits; nullopt if there are others.
std::optional<std::string> without_underscores(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      plain += text[i];
    } else if (i == 0 || i + 1 == text.size() || !is_digit(text[i - 1]) || !is_digit(text[i + 1])) {
      return std::nullopt;
    }
  }
  return plain;
}

std::string lower_ascii(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  return lower;
}

/// digits, one point somewhere among them or none, an exponent or none.
bool is_decimal_float(std::string_view text) {
  size_t i = 0, digits = 0;
  const auto skip_digits = [&] {
    const size_t start = i;
    while (i < text.size() && is_digit(text[i])) ++i;
    return i - start;
  };
  digits += skip_digits();
  if (i < text.size() && text[i] == '.') {
    ++i;
    digits += skip_digits();
  }
  if (digits == 0) return false;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    if (skip_digits() == 0) return false;
  }
  return i == text.size();
}

}  // namespace

std::string fixed(double value, int width) {
  if (width < 0) throw Error(fmt::format("-w {}: the number of digits after the point cannot be negative", width));
  if (std::isnan(value)) return "nan";
  // fmt 9 loses digits beyond about 770 of them.
  std::string text(std::numeric_limits<double>::max_exponent10 + 3 + static_cast<size_t>(width), '\0');
  text.resize(std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, width).ptr -
              text.data());
  return text;
}

std::string repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 64> buffer;
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific).ptr;
  const std::string_view text(buffer.data(), end - buffer.data());  // -d.ddde+XX
  const size_t e = text.find('e');
  const int exponent = std::atoi(std::string(text.substr(e + 1)).c_str());
  const bool negative = text[0] == '-';
  std::string digits;
  for (const char c : text.substr(negative, e - negative)) {
    if (c != '.') digits += c;
  }
  std::string result = negative ? "-" : "";
  if (exponent < -4 || exponent >= 16) {
    result += digits.substr(0, 1);
    if (digits.size() > 1) result += "." + digits.substr(1);
    return result + fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0) return result + "0." + std::string(-exponent - 1, '0') + digits;
  const size_t whole = exponent + 1;
  if (digits.size() <= whole) return result + digits + std::string(whole - digits.size(), '0') + ".0";
  return result + digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string json_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return repr(value);
}

std::string json_string(std::string_view text, JsonEscapes escapes) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size();) {
    const size_t start = i;
    const char32_t c = next_code_point(text, i);
    switch (c) {
      case '"':
        out += "\\\"";
        continue;
      case '\\':
        out += "\\\\";
        continue;
      case '\n':
        out += "\\n";
        continue;
      case '\r':
        out += "\\r";
        continue;
      case '\t':
        out += "\\t";
        continue;
      case '\b':
        out += "\\b";
        continue;
      case '\f':
        out += "\\f";
        continue;
    }
    if (c >= 0x20 && (c < 0x7F || escapes == JsonEscapes::kControlOnly)) {
      out.append(text, start, i - start);
    } else if (c == 0x7F) {
      out += '\x7F';
    } else if (c < 0x10000) {
      // A byte that is not UTF-8 is a lone surrogate to Python (surrogateescape).
      const bool stray = c == 0xFFFD && i == start + 1;
      out += fmt::format("\\u{:04x}", stray ? 0xDC00u + static_cast<uint8_t>(text[start]) : static_cast<uint32_t>(c));
    } else {
      const uint32_t rest = c - 0x10000;
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
    }
  }
  return out + "\"";
}

std::optional<int64_t> parse_int(std::string_view text) {
  const auto plain = without_underscores(strip(text));
  if (!plain) return std::nullopt;
  std::string_view digits = *plain;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.empty() || (plain->starts_with('+') && !is_digit(digits[0]))) return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_float(std::string_view text) {
  const auto plain = without_underscores(strip(text));
  if (!plain) return std::nullopt;
  std::string_view number = *plain;
  const bool negative = number.starts_with('-');
  if (negative || number.starts_with('+')) number.remove_prefix(1);
  const std::string lower = lower_ascii(number);
  const double sign = negative ? -1.0 : 1.0;
  if (lower == "inf" || lower == "infinity") return sign * INFINITY;
  if (lower == "nan") return NAN;
  if (!is_decimal_float(number)) return std::nullopt;
  static const locale_t kPlain = ::newlocale(LC_ALL_MASK, "C", nullptr);
  return sign * ::strtod_l(lower.c_str(), nullptr, kPlain);  // beyond the range: inf or 0, as in Python
}

}  // namespace nmt::scoring
