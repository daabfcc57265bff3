#include "scoring/command/argument_parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/edit_distance.h"
#include "base/error.h"

namespace nmt::scoring {
namespace {

/// An argument read as an option; option null: it looks like one, but there is none such.
struct Match {
  const ArgumentOption* option = nullptr;
  std::string name;
  std::optional<std::string> value;  // given in the same word
};

bool is_negative_number(std::string_view text) {
  // ^-\d+$|^-\d*\.\d+$
  const auto digits = [](std::string_view part) {
    return std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  text.remove_prefix(1);
  const size_t point = text.find('.');
  if (point == std::string_view::npos) return !text.empty() && digits(text);
  return digits(text.substr(0, point)) && point + 1 < text.size() && digits(text.substr(point + 1));
}

class Parser {
 public:
  Parser(const std::vector<ArgumentOption>& options, const std::vector<std::string>& arguments)
      : options_(options), arguments_(arguments) {}

  ParsedArguments parse() {
    classify();
    size_t at = 0;
    while (true) {
      const size_t option = kinds_.find('O', at);
      if (option == std::string::npos) break;
      if (at != option) {
        const size_t end = take_positionals(at);
        if (end > at) {
          at = end;
          continue;
        }
      }
      if (kinds_[at] != 'O') {
        extras_.insert(extras_.end(), arguments_.begin() + at, arguments_.begin() + option);
        at = option;
      }
      at = take_option(at);
      if (!result_.ended_by.empty()) return result_;
    }
    at = take_positionals(at);
    extras_.insert(extras_.end(), arguments_.begin() + at, arguments_.end());
    if (!extras_.empty())
      throw Error(fmt::format("unrecognized arguments: {}{}", fmt::join(extras_, " "), suggestion()));
    return result_;
  }

 private:
  /// kinds_: O an option, A another word, - the first "--".
  void classify() {
    matches_.resize(arguments_.size());
    for (size_t i = 0; i < arguments_.size(); ++i) {
      if (arguments_[i] == "--") {
        kinds_ += '-';
        kinds_.append(arguments_.size() - i - 1, 'A');
        return;
      }
      matches_[i] = match(arguments_[i]);
      kinds_ += matches_[i] ? 'O' : 'A';
    }
  }

  const ArgumentOption* find(std::string_view name) const {
    for (const ArgumentOption& option : options_) {
      if (std::find(option.names.begin(), option.names.end(), name) != option.names.end()) return &option;
    }
    return nullptr;
  }

  std::optional<Match> match(const std::string& word) const {
    if (word.size() < 2 || word[0] != '-') return std::nullopt;
    if (const auto* option = find(word)) return Match{option, word, {}};
    const size_t equals = word.find('=');
    if (equals != std::string::npos) {
      if (const auto* option = find(word.substr(0, equals))) {
        return Match{option, word.substr(0, equals), word.substr(equals + 1)};
      }
    }
    const std::vector<Match> candidates = beginnings(word, equals);
    if (candidates.size() == 1) return candidates.front();
    if (candidates.size() > 1) {
      std::vector<std::string> names;
      for (const Match& candidate : candidates) names.push_back(candidate.name);
      throw Error(fmt::format("ambiguous option: {} could match {}", word, fmt::join(names, ", ")));
    }
    if (is_negative_number(word) || word.find(' ') != std::string::npos) return std::nullopt;
    return Match{nullptr, word, {}};
  }

  /// Options that the word may be short for; -w4 is -w with the value 4.
  std::vector<Match> beginnings(const std::string& word, size_t equals) const {
    std::vector<Match> found;
    const bool is_long = word[1] == '-';
    const std::string beginning = is_long ? word.substr(0, equals) : word;
    std::optional<std::string> value;
    if (is_long && equals != std::string::npos) value = word.substr(equals + 1);
    for (const ArgumentOption& option : options_) {
      for (const std::string& name : option.names) {
        if (!is_long && name == word.substr(0, 2)) {
          found.push_back({&option, name, word.substr(2)});
        } else if (name.starts_with(beginning) && !option.whole_name_only) {
          found.push_back({&option, name, value});
        }
      }
    }
    return found;
  }

  /// The one positional takes all words up to the next option, once.
  size_t take_positionals(size_t at) {
    if (positionals_taken_) return at;
    positionals_taken_ = true;
    const size_t end = std::min(kinds_.find('O', at), arguments_.size());
    for (size_t i = at; i < end; ++i) {
      if (kinds_[i] != '-') result_.positionals.push_back(arguments_[i]);
    }
    return end;
  }

  size_t take_option(size_t at) {
    Match match = *matches_[at];
    if (!match.option) {
      extras_.push_back(arguments_[at]);
      return at + 1;
    }
    // -qb: flags in one word.
    std::vector<Match> flags;
    while (match.value && match.option->arity == Arity::kFlag) {
      const std::string rest = *match.value;
      if (match.name[1] == '-' || rest.empty()) throw ignored(match, rest);
      flags.push_back({match.option, match.name, {}});
      match.name = std::string("-") + rest[0];
      const ArgumentOption* next = find(match.name);
      if (!next) throw ignored(match, rest);
      match.option = next;
      match.value.reset();
      if (rest.size() > 1) match.value = rest.substr(1);
    }
    size_t end = at + 1;
    std::vector<std::string> values;
    if (match.value) {
      values = {*match.value};
    } else {
      end += count_values(match, at + 1);
      values.assign(arguments_.begin() + at + 1, arguments_.begin() + end);
    }
    for (const Match& flag : flags) {
      store(flag, {});
      if (!result_.ended_by.empty()) return end;
    }
    store(match, values);
    return end;
  }

  /// For the first one that is near the name of an option.
  std::string suggestion() const {
    std::vector<std::string> names;
    for (const auto& option : options_) names.insert(names.end(), option.names.begin(), option.names.end());
    for (const auto& extra : extras_) {
      if (!extra.starts_with("--")) continue;
      if (const auto meant = nearest_name(extra.substr(0, extra.find('=')), names))
        return fmt::format("; did you mean {}?", *meant);
    }
    return "";
  }

  static Error ignored(const Match& match, const std::string& value) {
    return Error(
        fmt::format("argument {}: ignored explicit argument '{}'", fmt::join(match.option->names, "/"), value));
  }

  size_t count_values(const Match& match, size_t at) const {
    size_t available = 0;
    while (at + available < kinds_.size() && kinds_[at + available] == 'A') ++available;
    const std::string names = fmt::format("{}", fmt::join(match.option->names, "/"));
    switch (match.option->arity) {
      case Arity::kFlag:
        return 0;
      case Arity::kOne:
        if (available == 0) throw Error(fmt::format("argument {}: expected one argument", names));
        return 1;
      case Arity::kAtLeastOne:
        if (available == 0) throw Error(fmt::format("argument {}: expected at least one argument", names));
        return available;
      case Arity::kAny:
        return available;
    }
    return 0;
  }

  void store(const Match& match, std::vector<std::string> values) {
    const ArgumentOption& option = *match.option;
    for (const std::string& value : values) {
      if (!option.choices.empty() &&
          std::find(option.choices.begin(), option.choices.end(), value) == option.choices.end()) {
        throw Error(fmt::format("argument {}: invalid choice: '{}' (choose from {})", fmt::join(option.names, "/"),
                                value, fmt::join(option.choices, ", ")));
      }
    }
    if (!option.excludes.empty() && result_.has(option.excludes)) {
      throw Error(
          fmt::format("argument {}: not allowed with argument {}", fmt::join(option.names, "/"), option.excludes));
    }
    result_.options[option.names.front()] = std::move(values);
    if (option.ends_parsing) result_.ended_by = option.names.front();
  }

  const std::vector<ArgumentOption>& options_;
  const std::vector<std::string>& arguments_;
  std::string kinds_;
  std::vector<std::optional<Match>> matches_;
  std::vector<std::string> extras_;
  bool positionals_taken_ = false;
  ParsedArguments result_;
};

}  // namespace

ParsedArguments parse_arguments(const std::vector<ArgumentOption>& options, const std::vector<std::string>& arguments) {
  return Parser(options, arguments).parse();
}

}  // namespace nmt::scoring
