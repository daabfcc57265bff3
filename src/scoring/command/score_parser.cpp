#include "scoring/command/score_parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "base/edit_distance.h"
#include "base/error.h"
#include "base/threads.h"
#include "scoring/command/score_arguments.h"

namespace nmt::scoring {
namespace {

/// "-w", "--width", "--"; but not "-", "-1" and "-.5", which are values.
bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && word[1] != '.' && !(word[1] >= '0' && word[1] <= '9');
}

/// Reads words: references, and options of any length behind one dash or two with their values: "-tok zh",
/// "--tokenize=zh", "-w4", "-qb".
class Parser {
 public:
  explicit Parser(const std::vector<std::string>& words) : words_(words), arguments_(score_arguments(options_)) {}

  ScoreOptions parse() {
    while (at_ < words_.size() && !options_.help && !options_.version) {
      if (words_[at_] == "--") {
        ++at_;
        take_references(words_.size());
      } else if (is_option(words_[at_])) {
        read_option(words_[at_++]);
      } else {
        take_references(end_of_values());
      }
    }
    return options_;
  }

 private:
  size_t end_of_values() const {
    return std::find_if(words_.begin() + static_cast<ptrdiff_t>(at_), words_.end(), is_option) - words_.begin();
  }

  void take_references(size_t end) {
    if (at_ < end && !options_.references.empty())
      throw Error(fmt::format("{}: unexpected here; all references stand together, before -i", words_[at_]));
    for (; at_ < end; ++at_) options_.references.push_back(words_[at_]);
  }

  const ScoreArgument* find(const std::string& name) const {
    const auto has_name = [&](const auto& argument) { return std::ranges::count(argument.shown.names, name) > 0; };
    const auto found = std::ranges::find_if(arguments_, has_name);
    return found == arguments_.end() ? nullptr : &*found;
  }

  void read_option(const std::string& word) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (const auto* argument = find(name)) {
      if (equals == std::string::npos) return store(*argument, name, values_behind(*argument, name));
      if (argument->shown.value.empty()) throw Error(name + ": is a flag; give it no value");
      return store(*argument, name, {word.substr(equals + 1)});
    }
    const std::string letter = word.substr(0, 2);
    const auto* argument = letter == "--" ? nullptr : find(letter);
    if (!argument) throw unknown(name);
    if (!argument->shown.value.empty()) return store(*argument, letter, {word.substr(2)});
    store(*argument, letter, {});
    read_option("-" + word.substr(2));
  }

  std::vector<std::string> values_behind(const ScoreArgument& argument, const std::string& name) {
    if (argument.shown.value.empty()) return {};
    const size_t begin = at_, end = end_of_values();
    if (begin == end) throw Error(name + ": give it a value");
    at_ = argument.shown.several_values ? end : begin + 1;
    return {words_.begin() + static_cast<ptrdiff_t>(begin), words_.begin() + static_cast<ptrdiff_t>(at_)};
  }

  static void store(const ScoreArgument& argument, const std::string& name, const std::vector<std::string>& values) {
    const auto& choices = argument.shown.choices;
    for (const auto& value : values) {
      if (!choices.empty() && std::ranges::find(choices, value) == choices.end())
        throw Error(fmt::format("{} {}: unknown; choose from {}", name, value, fmt::join(choices, ", ")));
    }
    argument.store(name, values);
  }

  Error unknown(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& argument : arguments_)
      names.insert(names.end(), argument.shown.names.begin(), argument.shown.names.end());
    const auto meant = name.starts_with("--") ? nearest_name(name, names) : std::nullopt;
    return Error(fmt::format("{}: no such option; {}", name, meant ? "did you mean " + *meant + "?" : "see --help"));
  }

  const std::vector<std::string>& words_;
  size_t at_ = 0;
  ScoreOptions options_;
  std::vector<ScoreArgument> arguments_;  // which point into options_
};

}  // namespace

ScoreOptions parse_score_options(const std::vector<std::string>& words) {
  ScoreOptions options = Parser(words).parse();
  check_threads("--threads", options.threads);
  if (const char* given = std::getenv("SACREBLEU_FORMAT")) {
    std::string name = given;
    for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    Choice<TableStyle> style = options.style;
    if (style.assign(name)) options.style = style;
  }
  return options;
}

}  // namespace nmt::scoring
