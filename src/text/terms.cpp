#include "text/terms.h"

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "base/unicode.h"

namespace nmt {

std::optional<size_t> PhraseTrie::add(std::span<const std::string_view> words, size_t number) {
  int32_t node = 0;
  for (const auto text : words) {
    auto word = words_.find(text);
    if (word == words_.end()) word = words_.emplace(text, static_cast<int32_t>(words_.size())).first;
    node = steps_.emplace(Step(node, word->second), static_cast<int32_t>(steps_.size()) + 1).first->second;
  }
  const auto [place, is_new] = numbers_.emplace(node, number);
  return is_new ? std::nullopt : std::optional(place->second);
}

PhraseTrie::Found PhraseTrie::longest(std::span<const std::string_view> words) const {
  Found found;
  int32_t node = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    const auto word = words_.find(words[i]);
    if (word == words_.end()) return found;
    const auto step = steps_.find(Step(node, word->second));
    if (step == steps_.end()) return found;
    node = step->second;
    if (const auto end = numbers_.find(node); end != numbers_.end()) found = {.words = i + 1, .number = end->second};
  }
  return found;
}

namespace {

constexpr int64_t kMostWords = 100;    // of a term: looking for it at each word of a text has an end
constexpr int64_t kMostBytes = 1'000;  // what a word of a text can become has one, too

/// A word of letters and digits, or one other character.
struct Word {
  std::string folded;
  ByteRange range;
};

std::string folded(std::string_view text) {
  std::string result;
  icu::UnicodeString::fromUTF8({text.data(), static_cast<int32_t>(text.size())}).foldCase().toUTF8String(result);
  return result;
}

/// Where a line may break beside each of them: they are written without spaces.
bool needs_no_space(char32_t c) {
  const int32_t kind = u_getIntPropertyValue(static_cast<UChar32>(c), UCHAR_LINE_BREAK);
  return kind == U_LB_IDEOGRAPHIC || kind == U_LB_COMPLEX_CONTEXT || kind == U_LB_CONDITIONAL_JAPANESE_STARTER;
}

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  bool open = false;  // the last one may continue
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

std::vector<std::string_view> texts_of(std::span<const Word> words, std::string_view text) {
  std::vector<std::string_view> texts;
  for (const auto& word : words) texts.push_back(text.substr(word.range.begin, word.range.end - word.range.begin));
  return texts;
}

std::vector<std::string_view> folded_of(std::span<const Word> words) {
  std::vector<std::string_view> texts;
  for (const auto& word : words) texts.push_back(word.folded);
  return texts;
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
  tsv = without_byte_order_mark(tsv);
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
  return glossary;
}

Glossary Glossary::read(const std::filesystem::path& file) { return parse(read_file(file), file.string()); }

void Glossary::add(Term term, const std::string& place) {
  for (const auto& side : {term.source, term.target}) {
    if (std::ssize(side) > kMostBytes)
      throw Error(fmt::format("{}: a term has {} bytes at most, on each side", place, kMostBytes));
    if (std::ssize(words_of(side)) > kMostWords)
      throw Error(fmt::format("{}: a term has {} words at most, on each side", place, kMostWords));
  }
  const std::string source = term.source;
  if (const auto known = put(std::move(term))) {
    const Term& other = terms_[*known];
    throw Error(fmt::format("{}: '{}' stands in the glossary already, with '{}'; leave one of them out", place, source,
                            other.target.empty() ? other.source : other.target));
  }
}

std::optional<size_t> Glossary::put(Term term) {
  const auto words = words_of(term.source);
  const auto texts = term.match_case ? texts_of(words, term.source) : folded_of(words);
  const auto known = (term.match_case ? exact_ : in_any_case_).add(texts, terms_.size());
  if (!known) terms_.push_back(std::move(term));
  return known;
}

Glossary Glossary::of_targets() const {
  Glossary glossary;
  for (const auto& term : terms_)  // several may have one target
    glossary.put({.source = term.target.empty() ? term.source : term.target, .target = {}, .match_case = true});
  return glossary;
}

std::vector<Glossary::Match> Glossary::find(std::string_view text) const {
  std::vector<Match> matches;
  if (terms_.empty()) return matches;
  const auto words = words_of(text);
  const auto exact = texts_of(words, text), folded = folded_of(words);
  for (size_t i = 0; i < words.size();) {
    const auto as_it_stands = exact_.longest(std::span(exact).subspan(i));
    const auto in_any_case = in_any_case_.longest(std::span(folded).subspan(i));
    const auto& best = in_any_case.words > as_it_stands.words ? in_any_case : as_it_stands;
    if (best.words > 0)
      matches.push_back({.range = {words[i].range.begin, words[i + best.words - 1].range.end}, .term = best.number});
    i += std::max<size_t>(best.words, 1);
  }
  return matches;
}

int64_t Glossary::inserted_characters(std::string_view text) const {
  int64_t characters = 0;
  for (const Match& match : find(text)) characters += count_code_points(terms_[match.term].target);
  return characters;
}

bool is_of_word(char32_t c) {
  return u_isalnum(static_cast<UChar32>(c)) || u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_GRAPHEME_EXTEND) ||
         c == '_';
}

bool make_one_word(char32_t before, char32_t after) {
  return is_of_word(before) && is_of_word(after) && !needs_no_space(before) && !needs_no_space(after);
}

bool stands_as_words(std::string_view text, std::string_view phrase) {
  return phrase.empty() || find_as_words(text, phrase) != std::string_view::npos;
}

bool stands_as_words_at(std::string_view text, std::string_view phrase, size_t at) {
  const auto last_of = [](std::string_view own) -> char32_t {  // 0 where there is none
    size_t begin = own.size();
    while (begin > 0 && is_continuation_byte(own[--begin])) {
    }
    return own.empty() ? 0 : next_code_point(own, begin);
  };
  const auto first_of = [](std::string_view own) -> char32_t {
    size_t i = 0;
    return own.empty() ? 0 : next_code_point(own, i);
  };
  return !make_one_word(last_of(text.substr(0, at)), first_of(phrase)) &&
         !make_one_word(last_of(phrase), first_of(text.substr(at + phrase.size())));
}

size_t find_as_words(std::string_view text, std::string_view phrase, size_t from) {
  if (phrase.empty()) return std::string_view::npos;
  size_t at = text.find(phrase, from);
  while (at != std::string_view::npos && !stands_as_words_at(text, phrase, at)) at = text.find(phrase, at + 1);
  return at;
}

}  // namespace nmt
