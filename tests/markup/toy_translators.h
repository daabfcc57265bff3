#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "markup/segments/translate_texts.h"

/// Translators whose alignments are known.
namespace nmt::test {

struct WordPlace {
  size_t begin, end;
};

inline std::vector<WordPlace> words_of(std::string_view text) {
  std::vector<WordPlace> words;
  for (size_t i = 0; i < text.size();) {
    const size_t end = std::min(text.find(' ', i), text.size());
    if (end > i) words.push_back({i, end});
    i = end + 1;
  }
  return words;
}

/// `links` as "0-0 1-2": words of the source and of the target, parted at spaces.
inline AlignedTranslation aligned(std::string_view source, const std::string& target, const std::string& links) {
  AlignedTranslation out{.text = target};
  const auto from = words_of(source), to = words_of(target);
  std::istringstream pairs(links);
  for (std::string pair; pairs >> pair;) {
    const size_t dash = pair.find('-');
    const auto s = from.at(std::stoul(pair.substr(0, dash))), t = to.at(std::stoul(pair.substr(dash + 1)));
    out.alignment.push_back({s.begin, s.end, t.begin, t.end});
  }
  return out;
}

struct ToyEntry {
  std::string target, links;
};

/// Knows some texts; another one fails the test.
inline TranslateTexts dictionary(std::map<std::string, ToyEntry> entries) {
  return [entries = std::move(entries)](std::span<const std::string> texts) {
    std::vector<AlignedTranslation> out;
    for (const auto& text : texts) {
      const auto found = entries.find(text);
      if (found == entries.end()) ADD_FAILURE() << "asked for \"" << text << '"';
      out.push_back(found == entries.end() ? AlignedTranslation{text}
                                           : aligned(text, found->second.target, found->second.links));
    }
    return out;
  };
}

/// ASCII letters become capitals; each word is aligned with itself.
inline std::vector<AlignedTranslation> shout(std::span<const std::string> texts) {
  std::vector<AlignedTranslation> out;
  for (std::string text : texts) {
    AlignedTranslation translation;
    for (const auto word : words_of(text))
      translation.alignment.push_back({word.begin, word.end, word.begin, word.end});
    for (char& c : text)
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    translation.text = std::move(text);
    out.push_back(std::move(translation));
  }
  return out;
}

/// The words in the opposite order, in capitals.
inline std::vector<AlignedTranslation> reverse_words(std::span<const std::string> texts) {
  std::vector<AlignedTranslation> out;
  for (const auto& loud : shout(texts)) {
    AlignedTranslation translation;
    auto words = words_of(loud.text);
    std::reverse(words.begin(), words.end());
    for (const auto word : words) {
      if (!translation.text.empty()) translation.text += ' ';
      const size_t begin = translation.text.size();
      translation.text += loud.text.substr(word.begin, word.end - word.begin);
      translation.alignment.push_back({word.begin, word.end, begin, translation.text.size()});
    }
    out.push_back(std::move(translation));
  }
  return out;
}

/// Collects the texts, changes nothing.
inline TranslateTexts listing(std::vector<std::string>& seen) {
  return [&seen](std::span<const std::string> texts) {
    seen.assign(texts.begin(), texts.end());
    std::vector<AlignedTranslation> out;
    for (const auto& text : texts) out.push_back({text});
    return out;
  };
}

}  // namespace nmt::test
