#include "scoring/tokenizers/tokenizers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/code_points.h"
#include "base/error.h"
#include "base/unicode.h"
#include "scoring/tokenizers/flores_tokenizer.h"
#include "scoring/tokenizers/mecab_tokenizer.h"
#include "scoring/tokenizers/unicode_classes.h"
#include "scoring/tokenizers/western_rules.h"

namespace nmt::scoring {
namespace {

class NoneTokenizer final : public BleuTokenizer {
 public:
  void tokenize(std::string_view line, std::string& out) const override { out.assign(line); }
  std::string signature() const override { return "none"; }
};

/// That of mteval-v13a, the script of the WMT evaluations, but for what does not touch one line.
class Tokenizer13a final : public BleuTokenizer {
 public:
  void tokenize(std::string_view line, std::string& out) const override {
    std::string padded;
    padded.reserve(line.size() + 2);
    padded.append(1, ' ').append(line).append(1, ' ');
    const auto has = [line](char c) { return line.find(c) != std::string_view::npos; };
    if (has('&') || has('<') || has('\n')) {
      padded.assign(line);
      replace_all(padded, "<skipped>", "");
      replace_all(padded, "-\n", "");
      replace_all(padded, "\n", " ");
      unescape_xml(padded);
      padded.insert(0, 1, ' ').append(1, ' ');
    }
    apply_western_rules(padded, out);
  }
  std::string signature() const override { return "13a"; }
};

/// Spaces round what counts as Chinese, then the western rules.
class ZhTokenizer final : public BleuTokenizer {
 public:
  void tokenize(std::string_view line, std::string& out) const override {
    line = strip(line);
    std::string spaced;
    spaced.reserve(3 * line.size());
    for (size_t i = 0; i < line.size();) {
      const size_t start = i;
      const bool chinese = is_chinese(next_code_point(line, i));
      if (chinese) spaced += ' ';
      spaced.append(line, start, i - start);
      if (chinese) spaced += ' ';
    }
    apply_western_rules(spaced, out);
  }
  std::string signature() const override { return "zh"; }

 private:
  /// The ranges of sacreBLEU, which take in more than Chinese (most symbols and dashes) and no plane but the first.
  static bool is_chinese(char32_t c) {
    struct Range {
      char32_t first, last;
    };
    static constexpr Range kRanges[] = {{0x2001, 0x2A6D}, {0x2E80, 0x2FDF}, {0x2FF0, 0x303F}, {0x3100, 0x312F},
                                        {0x31A0, 0x31EF}, {0x3200, 0x4DB5}, {0x4E00, 0x9FBB}, {0xF900, 0xFA2D},
                                        {0xFA30, 0xFA6A}, {0xFA70, 0xFAD9}, {0xFE10, 0xFE1F}, {0xFE30, 0xFE4F},
                                        {0xFF00, 0xFFEF}};
    if (c < kRanges[0].first) return false;
    return std::any_of(std::begin(kRanges), std::end(kRanges),
                       [c](const Range& range) { return c >= range.first && c <= range.last; });
  }
};

/// That of mteval-v14: punctuation and symbols of all scripts, by general category.
class InternationalTokenizer final : public BleuTokenizer {
 public:
  void tokenize(std::string_view line, std::string& out) const override {
    std::u32string text = to_code_points(line), spaced;
    // (\P{N})(\p{P}) -> "\1 \2 "
    for (size_t i = 0; i < text.size();) {
      const char32_t c = text[i++];
      spaced += c;
      if (i < text.size() && class_of(c) != CharacterClass::kNumber &&
          class_of(text[i]) == CharacterClass::kPunctuation) {
        spaced.append({U' ', text[i++], U' '});
      }
    }
    // (\p{P})(\P{N}) -> " \1 \2"
    text.clear();
    for (size_t i = 0; i < spaced.size();) {
      const char32_t c = spaced[i++];
      if (i < spaced.size() && class_of(c) == CharacterClass::kPunctuation &&
          class_of(spaced[i]) != CharacterClass::kNumber) {
        text.append({U' ', c, U' ', spaced[i++]});
      } else {
        text += c;
      }
    }
    // (\p{S}) -> " \1 "
    spaced.clear();
    for (const char32_t c : text) {
      if (class_of(c) == CharacterClass::kSymbol) {
        spaced.append({U' ', c, U' '});
      } else {
        spaced += c;
      }
    }
    out = to_utf8(spaced);
  }
  std::string signature() const override { return "intl"; }
};

class CharTokenizer final : public BleuTokenizer {
 public:
  void tokenize(std::string_view line, std::string& out) const override {
    out.clear();
    out.reserve(2 * line.size());
    for (size_t i = 0; i < line.size();) {
      const size_t start = i;
      next_code_point(line, i);
      if (start > 0) out += ' ';
      out.append(line, start, i - start);
    }
  }
  std::string signature() const override { return "char"; }
};

}  // namespace

const std::vector<std::string>& tokenizer_names() {
  static const std::vector<std::string> names = {"none",     "zh",  "13a",       "intl",      "char",     "ja-mecab",
                                                 "ko-mecab", "spm", "flores101", "flores200", "spBLEU-1K"};
  return names;
}

std::shared_ptr<const BleuTokenizer> make_tokenizer(const std::string& name, const std::string& sentencepiece_model) {
  if (name == "none") return std::make_shared<NoneTokenizer>();
  if (name == "zh") return std::make_shared<ZhTokenizer>();
  if (name == "13a") return std::make_shared<Tokenizer13a>();
  if (name == "intl") return std::make_shared<InternationalTokenizer>();
  if (name == "char") return std::make_shared<CharTokenizer>();
  if (name == "ja-mecab" || name == "ko-mecab") return make_mecab_tokenizer(name);
  if (name == "spm" || name == "flores101" || name == "flores200" || name == "spBLEU-1K") {
    return make_sentencepiece_tokenizer(name, sentencepiece_model);
  }
  throw Error(fmt::format("tokenizer '{}': unknown; choose one of {}", name, fmt::join(tokenizer_names(), ", ")));
}

std::string tokenizer_for_language(std::string_view language) {
  if (language == "zh") return "zh";
  if (language == "ja") return "ja-mecab";
  if (language == "ko") return "ko-mecab";
  return "13a";
}

}  // namespace nmt::scoring
