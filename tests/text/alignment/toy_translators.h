#pragma once

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/aligned_translation.h"

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

/// Knows some texts; throws std::logic_error for another one.
inline TranslateTexts dictionary(std::map<std::string, ToyEntry> entries) {
  return [entries = std::move(entries)](std::span<const std::string> texts) {
    std::vector<AlignedTranslation> out;
    for (const auto& text : texts) {
      const auto found = entries.find(text);
      if (found == entries.end()) throw std::logic_error("asked for \"" + text + "\"");
      out.push_back(aligned(text, found->second.target, found->second.links));
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

/// Words in any order, some of them twice or not at all, with links of any kind: a number made of the text chooses.
inline std::vector<AlignedTranslation> scramble(std::span<const std::string> texts) {
  std::vector<AlignedTranslation> out;
  for (const auto& text : texts) {
    std::mt19937_64 random(std::hash<std::string>{}(text));
    const auto number = [&](size_t most) { return static_cast<size_t>(random() % (most + 1)); };
    AlignedTranslation translation;
    const auto words = words_of(text);
    for (size_t i = number(2 * words.size()); i > 0 && !words.empty(); --i) {
      const auto word = words[number(words.size() - 1)];
      if (number(3) && !translation.text.empty()) translation.text += ' ';
      const size_t begin = translation.text.size();
      translation.text += number(4) ? text.substr(word.begin, word.end - word.begin) : "</b>&lt;\"'\xE4\xB8\x80";
      if (number(4)) translation.alignment.push_back({word.begin, word.end, begin, translation.text.size()});
    }
    for (size_t i = number(3); i > 0; --i)
      translation.alignment.push_back(
          {number(text.size() + 3), number(text.size() + 3), number(translation.text.size() + 3), random()});
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
