#include "scoring/tokenizers/western_rules.h"

#include <array>
#include <cstdint>

namespace nmt::scoring {
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

/// Runs `pass(in, end, out)`, which returns the end of what it wrote, with room for `growth` bytes a byte of text.
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

void split_period_after_non_digit(std::string_view text, std::string& out) {
  rewrite(text, 2, out, [](const char* in, const char* end, char* to) {
    while (in != end) {
      const char c = *in++;
      *to++ = c;
      if (in != end && is(*in, kPeriod) && !is(c, kDigit)) {
        *to++ = ' ';
        *to++ = *in++;
        *to++ = ' ';
      }
    }
    return to;
  });
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

void split_dash_after_digit(std::string_view text, std::string& out) {
  rewrite(text, 2, out, [](const char* in, const char* end, char* to) {
    while (in != end) {
      const char c = *in++;
      *to++ = c;
      if (in != end && *in == '-' && is(c, kDigit)) {
        *to++ = ' ';
        *to++ = *in++;
        *to++ = ' ';
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

}  // namespace nmt::scoring
