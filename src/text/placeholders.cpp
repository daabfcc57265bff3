#include "text/placeholders.h"

#include <fmt/format.h>
#include <unicode/regex.h>
#include <unicode/utext.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include "base/error.h"

namespace nmt {
namespace {

constexpr size_t kLongestName = 64;  // between braces; what is longer is text

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_name(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '-'; }
char at(std::string_view text, size_t i) { return i < text.size() ? text[i] : '\0'; }

/// The end of {name} or {{name}} at i, or i. What stands between may have the format of Python or ICU ({n:02d},
/// {n, number}), but no sentence.
size_t end_of_braces(std::string_view text, size_t i) {
  size_t depth = 0, spaces = 0;
  for (size_t k = i; k < text.size() && k - i < kLongestName; ++k) {
    const char c = text[k];
    if (c == '{') {
      ++depth;
    } else if (c == '}') {
      if (--depth == 0) return spaces <= 1 ? k + 1 : i;
    } else if (c == ' ') {
      ++spaces;
    } else if (!is_name(c) && c != ':' && c != ',' && c != '!' && c != '[' && c != ']' && c != '<' && c != '>') {
      return i;
    }
  }
  return i;
}

/// The end of the braces at i, with all braces in them and whatever else, up to so many bytes; or i.
size_t end_of_balanced_braces(std::string_view text, size_t i, size_t longest) {
  size_t depth = 0;
  for (size_t k = i; k < text.size() && k - i < longest; ++k) {
    depth += text[k] == '{';
    if (text[k] == '}' && --depth == 0) return k + 1;
  }
  return i;
}

/// The end of a message of ICU ({count, plural, one {# file} other {# files}}) or of an expression of a template
/// ({{ user | upper }}) at the brace i, or i.
size_t end_of_message(std::string_view text, size_t i) {
  constexpr size_t kLongestExpression = 100, kLongestMessage = 1000;  // bytes
  const std::string_view rest = text.substr(i + 1, kLongestName);
  if (rest.starts_with('{')) return end_of_balanced_braces(text, i, kLongestExpression);
  size_t k = 0;
  const auto skip_spaces = [&] {
    while (at(rest, k) == ' ') ++k;
  };
  skip_spaces();
  while (is_name(at(rest, k))) ++k;
  skip_spaces();
  if (at(rest, k) != ',') return i;
  ++k;
  skip_spaces();
  for (const std::string_view kind : {"plural,", "select,", "selectordinal,"})
    if (rest.substr(k).starts_with(kind)) return end_of_balanced_braces(text, i, kLongestMessage);
  return i;
}

/// The end of a conversion of printf or Python at the percent sign i, or i.
size_t end_of_conversion(std::string_view text, size_t i) {
  size_t k = i + 1;
  if (at(text, k) == '%') return k + 1;
  if (at(text, k) == '@') return k + 1;
  if (at(text, k) == '{') {
    const size_t end = end_of_braces(text, k);
    return end == k ? i : end;
  }
  if (at(text, k) == '(') {
    // No further than a name reaches: a text of many "%(" would be read to its end for each.
    const std::string_view name = text.substr(k + 1, kLongestName);
    const size_t close = name.find(')');
    if (close == std::string_view::npos || !std::ranges::all_of(name.substr(0, close), is_name)) return i;
    k += close + 2;
  }
  size_t digits = k;
  while (is_digit(at(text, digits))) ++digits;
  if (digits > k && at(text, digits) == '$') k = digits + 1;
  if (k == digits + 1 && at(text, k) == '@') return k + 1;  // %1$@ of iOS
  while (at(text, k) == '-' || at(text, k) == '+' || at(text, k) == '#') ++k;
  while (is_digit(at(text, k)) || at(text, k) == '.' || at(text, k) == '*') ++k;
  while (at(text, k) == 'l' || at(text, k) == 'h' || at(text, k) == 'z') ++k;
  constexpr std::string_view kConversions = "sdiufFeEgGxXocpr";
  // "100 %d" is a conversion, "100 %der" is not.
  const bool ends = kConversions.find(at(text, k)) != std::string_view::npos && !is_letter(at(text, k + 1));
  return at(text, k) != '\0' && ends ? k + 1 : i;
}

bool starts_address(std::string_view rest) {
  for (const std::string_view scheme : {"http://", "https://", "ftp://", "mailto:", "www."}) {
    if (rest.size() <= scheme.size()) continue;
    const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
    if (std::ranges::equal(rest.substr(0, scheme.size()), scheme, same) &&
        std::isgraph(static_cast<unsigned char>(rest[scheme.size()])))
      return true;
  }
  return false;
}

bool is_of_address(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte != 0x7F && c != '<' && c != '>' && c != '"';
}

/// An address without the punctuation that belongs to the sentence around it. A bracket is the address's own where it
/// is opened in it.
size_t without_punctuation(std::string_view text, size_t begin, size_t end) {
  constexpr std::string_view kOpening = "([{", kClosing = ")]}";
  const auto own = text.substr(begin, end - begin);
  std::array<std::ptrdiff_t, 3> unclosed = {};  // of each kind in what is left; counted once, so that time is linear
  for (size_t kind = 0; kind < unclosed.size(); ++kind)
    unclosed[kind] = std::ranges::count(own, kOpening[kind]) - std::ranges::count(own, kClosing[kind]);
  for (; end > begin; --end) {
    const char last = text[end - 1];
    const size_t kind = kClosing.find(last);
    if (kind != std::string_view::npos) {
      if (unclosed[kind] >= 0) break;
      ++unclosed[kind];
    } else if (std::string_view(".,;:!?'").find(last) == std::string_view::npos) {
      break;
    }
  }
  return end;
}

size_t end_of_address(std::string_view text, size_t i) {
  if (!starts_address(text.substr(i))) return i;
  size_t end = i;
  while (end < text.size() && is_of_address(text[end])) ++end;
  return without_punctuation(text, i, end);
}

/// The address of e-mail around the sign @ at i, or nothing.
ByteRange mail_around(std::string_view text, size_t i, size_t least) {
  const auto is_local = [](char c) { return is_name(c) || c == '+' || c == '%'; };
  size_t begin = i, end = i + 1;
  while (begin > least && is_local(text[begin - 1])) --begin;
  while (is_name(at(text, end))) ++end;
  end = without_punctuation(text, i + 1, end);
  const auto host = text.substr(i + 1, end - i - 1);
  const bool has_dot = host.find('.') != std::string_view::npos && host.front() != '.';
  return begin < i && has_dot ? ByteRange{begin, end} : ByteRange{i, i};
}

}  // namespace

std::vector<ByteRange> find_placeholders(std::string_view text) {
  std::vector<ByteRange> found;
  size_t behind = 0;  // the last one
  const auto add = [&](size_t begin, size_t end) {
    found.push_back({begin, end});
    behind = end;
    return end;
  };
  for (size_t i = 0; i < text.size();) {
    size_t begin = i, end = i;
    const char c = text[i];
    const bool begins_word = i == 0 || !(is_letter(text[i - 1]) || is_digit(text[i - 1]));
    if (c == '%') {
      end = end_of_conversion(text, i);
    } else if (c == '{') {
      end = end_of_braces(text, i);
      if (end == i) end = end_of_message(text, i);
      if (end > i && i > behind && (text[i - 1] == '$' || text[i - 1] == '#')) --begin;
    } else if (c == '@') {
      const auto mail = mail_around(text, i, behind);
      begin = mail.begin, end = mail.end;
    } else if (begins_word && is_letter(c)) {
      end = end_of_address(text, i);
    }
    i = end > begin && end > i ? add(begin, end) : i + 1;
  }
  return found;
}

namespace {

/// A text as ICU reads it in place: its places are bytes.
class TextOfIcu {
 public:
  explicit TextOfIcu(std::string_view text) {
    UErrorCode status = U_ZERO_ERROR;
    utext_openUTF8(&text_, text.data(), static_cast<int64_t>(text.size()), &status);
    if (U_FAILURE(status)) throw MachineError(fmt::format("ICU: {}", u_errorName(status)));
  }
  ~TextOfIcu() { utext_close(&text_); }
  TextOfIcu(const TextOfIcu&) = delete;
  TextOfIcu& operator=(const TextOfIcu&) = delete;
  UText* get() { return &text_; }

 private:
  UText text_ = UTEXT_INITIALIZER;
};

}  // namespace

PlaceholderPatterns::PlaceholderPatterns(std::span<const std::string> patterns) {
  for (const auto& pattern : patterns) {
    UErrorCode status = U_ZERO_ERROR;
    UParseError place;
    patterns_.emplace_back(icu::RegexPattern::compile(icu::UnicodeString::fromUTF8(pattern), 0, place, status));
    if (U_FAILURE(status))
      throw Error(fmt::format("decoding.placeholders: '{}' is no regular expression ({}); correct it", pattern,
                              u_errorName(status)));
  }
}

PlaceholderPatterns::~PlaceholderPatterns() = default;

std::vector<ByteRange> PlaceholderPatterns::find(std::string_view text) const {
  constexpr int32_t kMostSteps = 100;  // of a match; some milliseconds each
  TextOfIcu of_icu(text);
  std::vector<ByteRange> found;
  for (const auto& pattern : patterns_) {
    UErrorCode status = U_ZERO_ERROR;
    const std::unique_ptr<icu::RegexMatcher> matcher(pattern->matcher(status));
    if (U_FAILURE(status)) throw MachineError(fmt::format("ICU: {}", u_errorName(status)));
    matcher->setTimeLimit(kMostSteps, status);
    matcher->reset(of_icu.get());
    while (matcher->find(status) && U_SUCCESS(status))
      found.push_back({static_cast<size_t>(matcher->start64(status)), static_cast<size_t>(matcher->end64(status))});
  }
  std::ranges::stable_sort(found, {}, &ByteRange::begin);
  size_t behind = 0;
  std::erase_if(found, [&](const ByteRange& range) {
    if (range.size() == 0 || range.begin < behind) return true;
    behind = range.end;
    return false;
  });
  return found;
}

}  // namespace nmt
