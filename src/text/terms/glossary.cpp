#include "text/terms/glossary.h"

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/code_points.h"
#include "base/error.h"
#include "base/files/file.h"
#include "base/unicode.h"

namespace nmt {
namespace {

/// A word of letters and digits, or one other character.
struct Word {
  std::string folded;
  TextRange range;
};

std::string folded(std::string_view text) {
  std::string result;
  icu::UnicodeString::fromUTF8({text.data(), static_cast<int32_t>(text.size())}).foldCase().toUTF8String(result);
  return result;
}

bool is_of_word(char32_t c) {
  return u_isalnum(static_cast<UChar32>(c)) || u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_GRAPHEME_EXTEND) ||
         c == '_';
}

/// Where a line may break beside each of them: they are written without spaces.
bool needs_no_space(char32_t c) {
  const int32_t kind = u_getIntPropertyValue(static_cast<UChar32>(c), UCHAR_LINE_BREAK);
  return kind == U_LB_IDEOGRAPHIC || kind == U_LB_COMPLEX_CONTEXT || kind == U_LB_CONDITIONAL_JAPANESE_STARTER;
}

/// Whether the words of these two, side by side, are one.
bool make_one_word(char32_t before, char32_t after) {
  return is_of_word(before) && is_of_word(after) && !needs_no_space(before) && !needs_no_space(after);
}

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  bool open = false;  // the last one may go on
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    const char32_t c = next_code_point(text, i);
    const bool of_word = is_of_word(c);
    if (is_python_space(c)) {
      open = false;
    } else if (open && of_word) {
      words.back().range.end = i;
    } else {
      words.push_back({.folded = "", .range = {begin, i}});
      open = of_word;
    }
  }
  for (auto& word : words) word.folded = folded(text.substr(word.range.begin, word.range.end - word.range.begin));
  return words;
}

std::vector<std::string_view> fields_of(std::string_view line, char divider) {
  std::vector<std::string_view> fields;
  for (size_t begin = 0;;) {
    const size_t end = std::min(line.find(divider, begin), line.size());
    fields.push_back(strip(line.substr(begin, end - begin)));
    if (end == line.size()) return fields;
    begin = end + 1;
  }
}

Term term_of(std::string_view line, const std::string& place) {
  const auto fields = fields_of(line, '\t');
  if (fields.size() < 2 || fields.size() > 3 || fields[0].empty())
    throw Error(place + ": use SOURCE, a tab, TARGET, and perhaps a tab and flags (case, keep)");
  Term term{.source = std::string(fields[0]), .target = std::string(fields[1])};
  bool keep = false;
  for (const auto flag : fields.size() == 3 ? fields_of(fields[2], ',') : std::vector<std::string_view>()) {
    if (flag == "case")
      term.match_case = true;
    else if (flag == "keep")
      keep = true;
    else if (!flag.empty())
      throw Error(fmt::format("{}: flag '{}': use case or keep", place, flag));
  }
  if (keep && !term.target.empty() && term.target != term.source)
    throw Error(fmt::format("{}: '{}' is to be kept, so leave its target '{}' out", place, term.source, term.target));
  if (keep) term.target.clear();
  if (!keep && term.target.empty())
    throw Error(fmt::format("{}: '{}' has no target; give it the flag keep if it is to stay", place, term.source));
  return term;
}

}  // namespace

Glossary Glossary::parse(std::string_view tsv, const std::string& name) {
  Glossary glossary;
  if (tsv.starts_with("\xEF\xBB\xBF")) tsv.remove_prefix(3);
  int64_t number = 0;
  for (size_t begin = 0; begin < tsv.size();) {
    const size_t end = std::min(tsv.find('\n', begin), tsv.size());
    auto line = tsv.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (strip(line).empty() || line.starts_with('#')) continue;
    const auto place = fmt::format("{}:{}", name, number);
    if (find_invalid_utf8(line)) throw Error(place + ": is not UTF-8");
    if (line.find('\r') != std::string_view::npos)
      throw Error(place + ": a carriage return stands within the line; end each term's line with a line feed");
    glossary.add(term_of(line, place), place);
  }
  for (auto& [word, terms] : glossary.by_first_word_) {
    std::ranges::stable_sort(terms, std::ranges::greater(), [&](size_t term) { return glossary.words_[term].size(); });
  }
  return glossary;
}

Glossary Glossary::read(const std::filesystem::path& file) { return parse(read_file(file), file.string()); }

void Glossary::add(Term term, const std::string& place) {
  auto words = words_of(term.source);
  std::vector<std::string> folded_words;
  for (auto& word : words) folded_words.push_back(std::move(word.folded));
  auto& same_first = by_first_word_[folded_words.front()];
  for (const size_t other : same_first) {
    const Term& known = terms_[other];
    if (words_[other] != folded_words || known.match_case != term.match_case) continue;
    if (term.match_case && known.source != term.source) continue;
    throw Error(fmt::format("{}: '{}' stands in the glossary already, with '{}'; leave one of them out", place,
                            term.source, known.target.empty() ? known.source : known.target));
  }
  same_first.push_back(terms_.size());
  terms_.push_back(std::move(term));
  words_.push_back(std::move(folded_words));
}

Glossary Glossary::of_targets() const {
  std::set<std::string> targets;
  for (const auto& term : terms_) targets.insert(term.target.empty() ? term.source : term.target);
  std::string tsv;
  for (const auto& target : targets) tsv += target + "\t\tcase,keep\n";
  return parse(tsv, "glossary");
}

std::vector<Glossary::Match> Glossary::find(std::string_view text) const {
  std::vector<Match> matches;
  if (terms_.empty()) return matches;
  const auto words = words_of(text);
  const auto fits = [&](size_t first, size_t term) {
    const auto& own = words_[term];
    if (first + own.size() > words.size()) return false;
    for (size_t i = 0; i < own.size(); ++i)
      if (words[first + i].folded != own[i]) return false;
    if (!terms_[term].match_case) return true;
    const auto exact = words_of(terms_[term].source);
    for (size_t i = 0; i < own.size(); ++i) {
      const auto& [here, there] = std::pair(words[first + i].range, exact[i].range);
      if (text.substr(here.begin, here.end - here.begin) !=
          std::string_view(terms_[term].source).substr(there.begin, there.end - there.begin))
        return false;
    }
    return true;
  };
  for (size_t i = 0; i < words.size();) {
    const auto candidates = by_first_word_.find(words[i].folded);
    const Match* found = nullptr;
    Match match;
    if (candidates != by_first_word_.end()) {
      // Of terms of one length that which asks for this case comes before the one that takes any.
      size_t best_length = 0;
      for (const size_t term : candidates->second) {
        const size_t length = words_[term].size();
        if (length < best_length || !fits(i, term)) continue;
        if (found && (length == best_length && !terms_[term].match_case)) continue;
        best_length = length;
        match = {.range = {words[i].range.begin, words[i + length - 1].range.end}, .term = term};
        found = &match;
      }
    }
    if (found) {
      i += words_[match.term].size();
      matches.push_back(match);
    } else {
      ++i;
    }
  }
  return matches;
}

bool stands_as_words(std::string_view text, std::string_view phrase) {
  if (phrase.empty()) return true;
  // What stands before each place of the text, and what begins there; 0 beyond the ends.
  char32_t before = 0;
  for (size_t at = 0; at + phrase.size() <= text.size();) {
    if (text.substr(at, phrase.size()) == phrase) {
      size_t i = 0, behind = at + phrase.size();
      const char32_t first = next_code_point(phrase, i);
      char32_t last = first;
      while (i < phrase.size()) last = next_code_point(phrase, i);
      const char32_t after = behind < text.size() ? next_code_point(text, behind) : 0;
      if (!make_one_word(before, first) && !make_one_word(last, after)) return true;
    }
    before = next_code_point(text, at);
  }
  return false;
}

}  // namespace nmt
