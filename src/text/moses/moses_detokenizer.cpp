#include "text/moses/moses_detokenizer.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "base/unicode.h"
#include "text/moses/moses_language.h"

namespace nmt {
namespace {

using View = std::u32string_view;

std::vector<View> words_of(View text) {
  std::vector<View> words;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && !is_python_space(text[i])) continue;
    if (i > begin) words.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return words;
}

/// Words between single spaces, and a space at both ends.
std::u32string padded(const std::vector<View>& words) {
  std::u32string text = U" ";
  for (const View word : words) {
    text += word;
    text += U' ';
  }
  return text;
}

std::u32string without_split_dashes(View text) {
  constexpr View kDash = U" @-@ ";
  std::u32string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    if (text.substr(i, kDash.size()) == kDash) {
      result += U'-';
      i += kDash.size();
    } else {
      result += text[i++];
    }
  }
  return result;
}

std::u32string unescaped(View text) {
  std::u32string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const auto entity =
        text[i] == U'&'
            ? std::ranges::find_if(kMosesEntities, [&](const auto& e) { return text.substr(i).starts_with(e.first); })
            : kMosesEntities.end();
    if (entity == kMosesEntities.end()) {
      result += text[i++];
    } else {
      result += entity->second;
      i += entity->first.size();
    }
  }
  return result;
}

template <typename Predicate>
bool all(View word, Predicate&& predicate) {
  return std::ranges::all_of(word, predicate);
}

bool is_opening(View word) {
  return all(word, [](char32_t c) {
    return moses::is_currency(c) || c == U'(' || c == U'[' || c == U'{' || c == U'\u00BF' || c == U'\u00A1';
  });
}
bool is_closing(View word) {
  return all(word, [](char32_t c) { return View(U",.?!:;\\%}])").find(c) != View::npos; });
}
bool is_quote(View word) {
  return all(word, [](char32_t c) { return View(U"'\"\u201E\u201C`").find(c) != View::npos; });
}
/// "'s"
bool is_english_contraction(View word) { return word.size() > 1 && word[0] == U'\'' && moses::is_letter(word[1]); }
/// "l'"
bool is_french_contraction(View word) {
  return word.size() > 1 && word.back() == U'\'' && moses::is_letter(word[word.size() - 2]);
}
/// French writes a space before these.
bool is_after_space_in_french(View word) { return word.size() == 1 && View(U"?!:;\\%").find(word[0]) != View::npos; }

/// Puts words one after the other, each with or without a space before it.
class Joiner {
 public:
  Joiner(const std::vector<View>& words, MosesLanguage language)
      : words_(words), english_(language == MosesLanguage::kEnglish), french_(language == MosesLanguage::kFrench) {}

  std::u32string join() {
    for (size_t i = 0; i < words_.size(); ++i) add(i);
    return text_.substr(!text_.empty() && text_.front() == U' ');
  }

 private:
  void add(size_t i) {
    const View word = words_[i];
    if (moses::is_ideograph(word.front())) {
      const bool run = i > 0 && moses::is_ideograph(words_[i - 1].back());
      return run ? join_left(word) : put(word, U" ");
    }
    if (is_opening(word)) return put(word, U"");
    if (french_ && is_after_space_in_french(word)) text_ += U' ';
    if (is_closing(word) || (english_ && i > 0 && is_english_contraction(word))) return join_left(word);
    if (french_ && is_french_contraction(word) && i + 1 < words_.size() && moses::is_letter(words_[i + 1].front()))
      return put(word, U"");
    if (is_quote(word)) return add_quote(i);
    put(word, U" ");
  }

  /// Quotes open and close by turns, those of each form by themselves.
  void add_quote(size_t i) {
    const View word = words_[i];
    const bool german = all(word, [](char32_t c) { return c == U'\u201E' || c == U'\u201C'; });
    int64_t& count = quotes_[german ? View(U"\"") : word];
    const bool opens = count % 2 == 0;
    if (opens && english_ && word == U"'" && i > 0 && words_[i - 1].back() == U's') return join_left(word);  // "Jones'"
    ++count;
    if (opens) {
      put(word, U"");
    } else {
      join_left(word);
    }
  }

  void put(View word, View space_after) {
    text_ += space_;
    text_ += word;
    space_ = space_after;
  }
  void join_left(View word) {
    text_ += word;
    space_ = U" ";
  }

  const std::vector<View>& words_;
  bool english_, french_;
  std::u32string text_;
  View space_ = U" ";  // before the next word that takes one
  std::map<View, int64_t> quotes_;
};

}  // namespace

std::string MosesDetokenizer::detokenize(std::string_view tokens) const {
  const std::u32string line = find_invalid_utf8(tokens) ? to_code_points(repair_utf8(tokens)) : to_code_points(tokens);
  std::u32string text = without_split_dashes(padded(words_of(line)));
  if (options_.unescape) text = unescaped(text);
  return to_utf8(Joiner(words_of(text), language_).join());
}

}  // namespace nmt
