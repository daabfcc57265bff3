#include "text/corpus/content_rules.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "text/corpus/text_reader.h"

namespace nmt {
namespace {

constexpr int64_t kShortLine = 20;  // letters: shorter lines say too little alone

/// The share of the characters of a side that are no letters of its language: digits, signs, foreign scripts.
class LettersRule final : public ContentRule {
 public:
  LettersRule() : ContentRule(CleaningRule::kLetters, 0.6, 1) {}
  double score(const TextProfile& source, const TextProfile& target) const override {
    const auto share = [](const TextProfile& side) {
      return side.characters == 0
                 ? 0
                 : 1 - static_cast<double>(side.letters_of_language) / static_cast<double>(side.characters);
    };
    return std::max(share(source), share(target));
  }
};

/// The share of the words of both sides that the other side has, too. Names alone, which are translated by themselves,
/// have fewer than three words.
class CopiesRule final : public ContentRule {
 public:
  CopiesRule() : ContentRule(CleaningRule::kCopies, 0.8, 1) {}
  double score(const TextProfile& source, const TextProfile& target) const override {
    if (source.hash == target.hash && source.letters >= kShortLine) return 1;
    constexpr size_t kNames = 2;
    if (std::min(source.words.size(), target.words.size()) <= kNames) return 0;
    auto of_source = source.words, of_target = target.words;
    std::ranges::sort(of_source);
    std::ranges::sort(of_target);
    std::vector<uint64_t> common;
    std::ranges::set_intersection(of_source, of_target, std::back_inserter(common));
    return 2.0 * static_cast<double>(common.size()) / static_cast<double>(of_source.size() + of_target.size());
  }
};

/// How often one letter or one word stands in a row.
class RepetitionsRule final : public ContentRule {
 public:
  RepetitionsRule() : ContentRule(CleaningRule::kRepetitions, 4, 10) {}
  double score(const TextProfile& source, const TextProfile& target) const override {
    return static_cast<double>(std::max(source.longest_run, target.longest_run));
  }
};

/// How many numbers the other side lacks. Those up to twelve may be written in words there, unless it has another
/// number in their place.
class NumbersRule final : public ContentRule {
 public:
  NumbersRule() : ContentRule(CleaningRule::kNumbers, 0, 5) {}
  double score(const TextProfile& source, const TextProfile& target) const override {
    const auto of_source = missing(source, target), of_target = missing(target, source);
    if (!of_source.empty() && !of_target.empty()) return static_cast<double>(of_source.size() + of_target.size());
    const auto is_large = [](const std::string& number) { return number.size() > 2 || std::stoi(number) > 12; };
    return static_cast<double>(std::ranges::count_if(of_source, is_large) + std::ranges::count_if(of_target, is_large));
  }

 private:
  static std::vector<std::string> missing(const TextProfile& side, const TextProfile& other) {
    std::vector<std::string> numbers;
    std::ranges::set_difference(side.numbers, other.numbers, std::back_inserter(numbers));
    return numbers;
  }
};

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 0x80; }

/// How many addresses both sides have: https://..., www...., and of e-mail.
class AddressesRule final : public ContentRule {
 public:
  AddressesRule() : ContentRule(CleaningRule::kAddresses, 0, 3) {}
  double score(const TextProfile& source, const TextProfile& target) const override {
    return count(source.text) + count(target.text);
  }

 private:
  static double count(std::string_view text) {
    double found = 0;
    for (size_t i = text.find_first_of(":@w"); i != std::string_view::npos; i = text.find_first_of(":@w", i + 1)) {
      const bool inside = i > 0 && is_of_word(text[i - 1]);
      const auto rest = text.substr(i);
      if (rest.starts_with("://") ? inside : rest.starts_with("www.") ? !inside && !before(text, i, "://") : false)
        ++found;
      if (text[i] != '@' || !inside) continue;
      const auto host = rest.substr(1, rest.find_first_of(" \t") - 1);
      const size_t dot = host.find('.');
      if (dot != 0 && dot + 1 < host.size() && is_of_word(host[dot + 1])) ++found;
    }
    return found;
  }
  static bool before(std::string_view text, size_t i, std::string_view what) {
    return text.substr(0, i).ends_with(what);
  }
};

/// 1 where a side has tags, entities of XML, or both.
class MarkupRule final : public ContentRule {
 public:
  MarkupRule() : ContentRule(CleaningRule::kMarkup, 0, 1) {}
  double score(const TextProfile& source, const TextProfile& target) const override {
    return has_markup(source.text) || has_markup(target.text) ? 1 : 0;
  }

 private:
  static bool has_markup(std::string_view text) {
    if (text.find('<') != std::string_view::npos && remove_tags(text).size() != text.size()) return true;
    for (size_t i = text.find('&'); i != std::string_view::npos; i = text.find('&', i + 1)) {
      const auto name =
          text.substr(i + 1, text.substr(i + 1).find_first_not_of("#abcdefghijklmnopqrstuvwxyz0123456789"));
      if (name.size() > 1 && text.substr(i + 1 + name.size()).starts_with(';')) return true;
    }
    return false;
  }
};

/// What ends the sides: 1 where one of them asks, 0.75 where one is unfinished, 0.5 where one has no sign.
class EndMarksRule final : public ContentRule {
 public:
  EndMarksRule() : ContentRule(CleaningRule::kEndMarks, 0.6, 1) {}
  double score(const TextProfile& source, const TextProfile& target) const override {
    if (source.end_mark == target.end_mark) return 0;
    const auto either = [&](EndMark mark) { return source.end_mark == mark || target.end_mark == mark; };
    return either(EndMark::kQuestion) ? 1 : either(EndMark::kOpen) ? 0.75 : 0.5;
  }
};

/// The shares of both sides that are in other languages, added. Half as much counts of a short line: it needs the
/// other side, too.
class LanguageRule final : public ContentRule {
 public:
  LanguageRule(std::string source, std::string target, const LanguageIdentifier& identifier)
      : ContentRule(CleaningRule::kLanguage, 0.7, 2),
        source_(std::move(source)),
        target_(std::move(target)),
        identifier_(identifier) {}
  double score(const TextProfile& source, const TextProfile& target) const override {
    return share(source, source_, target_) + share(target, target_, source_);
  }

 private:
  double share(const TextProfile& side, const std::string& language, const std::string& other) const {
    const double others = identifier_.share_of_others(side.text, language, other);
    return side.letters < kShortLine ? others / 2 : others;
  }
  std::string source_, target_;
  const LanguageIdentifier& identifier_;
};

Spelling spelling_of(const TextProfile& side) { return {side.hash, side.letters >= kShortLine}; }

}  // namespace

ContentRules::ContentRules(const Choices<CleaningRule>& chosen, const std::string& source_language,
                           const std::string& target_language, const LanguageIdentifier* identifier)
    : chosen_(chosen), source_scripts_(source_language), target_scripts_(target_language) {
  const auto add = [&](auto rule) {
    if (contains(rule.rule())) rules_.push_back(std::make_unique<decltype(rule)>(std::move(rule)));
  };
  add(LettersRule());
  add(CopiesRule());
  add(RepetitionsRule());
  add(NumbersRule());
  add(AddressesRule());
  add(MarkupRule());
  add(EndMarksRule());
  if (!contains(CleaningRule::kLanguage)) return;
  if (!identifier)
    throw Error(
        "data.clean: the rule language needs a language detector, which this build or library does not have "
        "(NMT_WITH_LANGUAGE); name the other rules in a list");
  add(LanguageRule(source_language, target_language, *identifier));
}

bool ContentRules::contains(CleaningRule rule) const {
  return chosen_.contains(rule) || (chosen_.contains(CleaningRule::kAll) && rule != CleaningRule::kAll);
}

ContentFinding ContentRules::judge(std::string_view source, std::string_view target) const {
  if (chosen_.empty()) return {};
  const TextProfile of_source(source, source_scripts_), of_target(target, target_scripts_);
  ContentFinding finding{.source = spelling_of(of_source), .target = spelling_of(of_target)};
  for (const auto& rule : rules_) {
    const double score = rule->score(of_source, of_target);
    finding.scores.push_back(static_cast<float>(score));
    if (finding.rule || score <= rule->threshold()) continue;
    finding.rule = rule->rule();
    finding.score = score;
  }
  return finding;
}

Spelling ContentRules::source_spelling(std::string_view text) const {
  return spelling_of(TextProfile(text, source_scripts_));
}
Spelling ContentRules::target_spelling(std::string_view text) const {
  return spelling_of(TextProfile(text, target_scripts_));
}

}  // namespace nmt
