#include "config/value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "base/error.h"
#include "base/unicode.h"

namespace nmt {
namespace {

/// What the readers below share: the option, its place in the file, and how to refuse.
struct Reading {
  const Option& option;
  const std::string& where;

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(fmt::format("{}: {}: {}", where, option.key(), why));
  }
  [[noreturn]] void refuse_type(const YAML::Node& value) const;
};

void Reading::refuse_type(const YAML::Node& value) const {
  const std::string type = type_name(option);
  const std::string needed = type.starts_with("true") ? type : "a " + type;
  if (value.IsMap()) refuse(fmt::format("needs {}, not a map", needed));
  if (value.IsSequence()) refuse(fmt::format("needs {}, not a list", needed));
  if (!value.IsScalar()) refuse(fmt::format("needs {}; it has no value", needed));
  refuse(fmt::format("needs {}, not '{}'", needed, shown(value.Scalar())));
}

bool is_quoted(const YAML::Node& value) { return value.Tag() == "!"; }

std::string format_number(int64_t value) { return fmt::format("{}", value); }

std::string format_number(double value) {
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general).ptr;
  std::string text(digits, end);
  // YAML 1.1 readers (PyYAML) take 1e-08 for a text: it needs the point.
  const size_t exponent = text.find('e');
  if (exponent != std::string::npos && text.find('.') == std::string::npos) text.insert(exponent, ".0");
  return text;
}

std::string range_text(const Range& range, bool whole) {
  const auto number = [whole](double value) {
    return whole ? format_number(static_cast<int64_t>(value)) : format_number(value);
  };
  std::vector<std::string> ends;
  if (std::isfinite(range.min)) ends.push_back((range.min_is_open ? "above " : "at least ") + number(range.min));
  if (std::isfinite(range.max)) ends.push_back((range.max_is_open ? "below " : "at most ") + number(range.max));
  return fmt::format("{}", fmt::join(ends, " and "));
}

bool contains(const Range& range, double value) {
  return (range.min_is_open ? value > range.min : value >= range.min) &&
         (range.max_is_open ? value < range.max : value <= range.max);
}

template <typename Number>
void check_range(const Reading& reading, Number value) {
  const auto* range = std::get_if<Range>(&reading.option.limits);
  if (!range || contains(*range, static_cast<double>(value))) return;
  reading.refuse(fmt::format("{} is out of range; it must be {}", format_number(value),
                             range_text(*range, std::is_integral_v<Number>)));
}

/// What the rule accepts, without control characters.
void check_text(const Reading& reading, const std::string& text) {
  if (const auto* rule = std::get_if<TextRule>(&reading.option.limits); rule && !rule->accepts(text)) {
    if (text.empty()) reading.refuse("must not be empty");
    reading.refuse(fmt::format("'{}' is not allowed; it must be {}", shown(text), rule->description));
  }
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
  if (std::any_of(text.begin(), text.end(), is_control)) {
    reading.refuse(fmt::format("'{}' holds a control character", shown(text)));
  }
}

void read(const Reading& reading, const YAML::Node& value, bool& result) {
  const auto truth = parse_truth(value);
  if (!truth) reading.refuse_type(value);
  result = *truth;
}

void read(const Reading& reading, const YAML::Node& value, int64_t& result) {
  if (!value.IsScalar() || is_quoted(value)) reading.refuse_type(value);
  const std::string& text = value.Scalar();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
  if (error == std::errc::result_out_of_range && end == text.data() + text.size()) {
    reading.refuse(fmt::format("{} is too large a number", shown(text)));
  }
  if (error != std::errc() || end != text.data() + text.size()) reading.refuse_type(value);
  check_range(reading, result);
}

void read(const Reading& reading, const YAML::Node& value, double& result) {
  if (!value.IsScalar() || is_quoted(value)) reading.refuse_type(value);
  const std::string& text = value.Scalar();
  double special = 0;
  const bool yaml_special = YAML::convert<double>::decode(value, special) && !std::isfinite(special);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
  const bool whole_text = end == text.data() + text.size();
  if (yaml_special || (whole_text && error == std::errc() && !std::isfinite(result))) {
    reading.refuse(fmt::format("{} is not a finite number", shown(text)));
  }
  if (whole_text && error == std::errc::result_out_of_range) {
    reading.refuse(fmt::format("{} is too large or too small a number", shown(text)));
  }
  if (!whole_text || error != std::errc()) reading.refuse_type(value);
  check_range(reading, result);
}

void read(const Reading& reading, const YAML::Node& value, std::string& result) {
  if (!value.IsScalar()) reading.refuse_type(value);
  check_text(reading, value.Scalar());
  result = value.Scalar();
}

[[noreturn]] void refuse_choice(const Reading& reading, const std::string& text,
                                std::span<const std::string_view> names) {
  reading.refuse(fmt::format("'{}' is not one of: {}", shown(text), fmt::join(names, ", ")));
}

void read(const Reading& reading, const YAML::Node& value, NamedChoice& result) {
  if (!value.IsScalar()) reading.refuse_type(value);
  if (!result.assign(value.Scalar())) refuse_choice(reading, value.Scalar(), result.names());
}

/// A single text counts as a list of one; an empty one as the empty list.
std::vector<std::string> texts_of(const Reading& reading, const YAML::Node& value) {
  std::vector<std::string> texts;
  if (value.IsScalar()) {
    if (!value.Scalar().empty()) texts.push_back(value.Scalar());
  } else if (value.IsSequence()) {
    for (const auto& item : value) {
      if (!item.IsScalar()) reading.refuse("each entry of the list must be a text");
      texts.push_back(item.Scalar());
    }
  } else {
    reading.refuse_type(value);
  }
  return texts;
}

void read(const Reading& reading, const YAML::Node& value, std::vector<std::string>& result) {
  auto texts = texts_of(reading, value);
  for (const auto& text : texts) check_text(reading, text);
  result = std::move(texts);
}

void read(const Reading& reading, const YAML::Node& value, NamedChoices& result) {
  const auto texts = texts_of(reading, value);
  result.clear();
  for (const auto& text : texts)
    if (!result.append(text)) refuse_choice(reading, text, result.names());
}

std::string text_of(const Reading& reading, const YAML::Node& entry, const std::string& key) {
  if (!entry.IsScalar() || entry.Scalar().empty()) reading.refuse(fmt::format("'{}' of a set must be a text", key));
  check_text(reading, entry.Scalar());
  return entry.Scalar();
}

constexpr size_t kLongestSetName = 100;

/// The name becomes part of the names of files and curves; a file system takes at most 255 bytes.
bool is_set_name(const std::string& name) {
  const auto is_plain = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-' || c == '.'; };
  return name.size() <= kLongestSetName && !name.starts_with('.') && std::all_of(name.begin(), name.end(), is_plain);
}

/// An empty text counts as the empty list.
void read(const Reading& reading, const YAML::Node& value, std::vector<TextSet>& result) {
  std::vector<TextSet> sets;
  if (!value.IsSequence() && !(value.IsScalar() && value.Scalar().empty())) reading.refuse_type(value);
  for (const auto& item : value) {
    if (!item.IsMap()) reading.refuse("each entry of the list must be {name: ..., source: FILE, target: FILE}");
    TextSet& set = sets.emplace_back();
    for (const auto& entry : item) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
      std::string* place = key == "name"     ? &set.name
                           : key == "source" ? &set.source
                           : key == "target" ? &set.target
                                             : &set.languages;
      if (key != "name" && key != "source" && key != "target" && key != "languages")
        reading.refuse(fmt::format("'{}' is not one of: name, source, target, languages", shown(key)));
      if (!place->empty()) reading.refuse(fmt::format("'{}' of a set stands twice", key));
      *place = text_of(reading, entry.second, key);
    }
    for (const auto& [key, text] :
         {std::pair("name", &set.name), std::pair("source", &set.source), std::pair("target", &set.target)})
      if (text->empty())
        reading.refuse(fmt::format("a set has no {}; write {{name: ..., source: FILE, target: FILE}}", key));
    if (!is_set_name(set.name))
      reading.refuse(fmt::format("'{}' is no name of a set; use at most {} letters, digits, '_', '-' and '.'",
                                 shown(set.name), kLongestSetName));
    const auto same = [&](const TextSet& other) { return other.name == set.name; };
    if (std::count_if(sets.begin(), sets.end(), same) > 1) reading.refuse(fmt::format("{} stands twice", set.name));
  }
  result = std::move(sets);
}

constexpr const char* kStageForm = "{shares: {NAME: SHARE, ...}, until_epochs: N}";

/// In the order in which they are written.
void read_shares(const Reading& reading, const YAML::Node& value, TrainingStage& stage) {
  if (!value.IsMap()) reading.refuse(fmt::format("'shares' must be names and numbers; write {}", kStageForm));
  for (const auto& entry : value) {
    if (!entry.first.IsScalar()) reading.refuse("a name in 'shares' must be a text");
    const std::string& name = entry.first.Scalar();
    check_text(reading, name);
    double share = 0;
    read(reading, entry.second, share);
    if (share <= 0) reading.refuse(fmt::format("the share of {} must be above 0", shown(name)));
    if (std::ranges::find(stage.shares, name, &std::pair<std::string, double>::first) != stage.shares.end())
      reading.refuse(fmt::format("{} stands twice in a stage", shown(name)));
    stage.shares.emplace_back(name, share);
  }
}

/// An empty text counts as the empty list.
void read(const Reading& reading, const YAML::Node& value, std::vector<TrainingStage>& result) {
  std::vector<TrainingStage> stages;
  if (!value.IsSequence() && !(value.IsScalar() && value.Scalar().empty())) reading.refuse_type(value);
  for (const auto& item : value) {
    if (!item.IsMap()) reading.refuse(fmt::format("each entry of the list must be {}", kStageForm));
    TrainingStage& stage = stages.emplace_back();
    for (const auto& entry : item) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (key == "shares") {
        read_shares(reading, entry.second, stage);
        continue;
      }
      if (stage.end != StageEnd::kRun)
        reading.refuse("a stage has one end: until_epochs, until_update or until_stalled");
      if (!stage.end.assign(key) || stage.end == StageEnd::kRun)
        reading.refuse(
            fmt::format("'{}' is not one of: shares, until_epochs, until_update, until_stalled", shown(key)));
      read(reading, entry.second, stage.limit);
      if (stage.limit < 1) reading.refuse(fmt::format("'{}' must be at least 1", key));
    }
    if (stage.shares.empty()) reading.refuse(fmt::format("a stage has no shares; write {}", kStageForm));
  }
  result = std::move(stages);
}

/// A single number counts as a list of one.
template <typename Number>
void read(const Reading& reading, const YAML::Node& value, std::vector<Number>& result) {
  std::vector<Number> numbers;
  if (value.IsSequence()) {
    for (const auto& item : value) read(reading, item, numbers.emplace_back());
  } else {
    read(reading, value, numbers.emplace_back());
  }
  result = std::move(numbers);
}

template <typename T>
void read(const Reading& reading, const YAML::Node& value, std::optional<T>& result) {
  if (value.IsNull()) {
    result.reset();
    return;
  }
  T number{};
  read(reading, value, number);
  result = number;
}

/// Plain where every YAML reader takes the plain form for this text, else in double quotes.
std::string format_text(const std::string& text) {
  const auto is_safe = [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '/' || c == '.' || c == '-' || c == '+';
  };
  const bool safe = !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '/') &&
                    std::all_of(text.begin(), text.end(), is_safe);
  const YAML::Node plain(text);
  if (safe && !parse_truth(plain) && !YAML::IsNullString(text)) return text;
  YAML::Emitter quoted;
  quoted << YAML::DoubleQuoted << text;
  return quoted.c_str();
}

std::string format_field(bool value) { return value ? "true" : "false"; }
std::string format_field(int64_t value) { return format_number(value); }
std::string format_field(double value) { return format_number(value); }
std::string format_field(const std::string& value) { return format_text(value); }
std::string format_field(const std::vector<std::string>& values) {
  std::vector<std::string> texts;
  for (const auto& value : values) texts.push_back(format_text(value));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}
std::string format_field(const std::vector<TextSet>& sets) {
  std::vector<std::string> texts;
  for (const auto& [name, source, target, languages] : sets)
    texts.push_back(fmt::format("{{name: {}, source: {}, target: {}{}}}", format_text(name), format_text(source),
                                format_text(target),
                                languages.empty() ? "" : ", languages: " + format_text(languages)));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}
std::string format_field(const std::vector<TrainingStage>& stages) {
  std::vector<std::string> texts;
  for (const auto& stage : stages) {
    std::vector<std::string> shares;
    for (const auto& [name, share] : stage.shares)
      shares.push_back(fmt::format("{}: {}", format_text(name), format_number(share)));
    const auto end = stage.end == StageEnd::kRun ? "" : fmt::format(", {}: {}", stage.end.name(), stage.limit);
    texts.push_back(fmt::format("{{shares: {{{}}}{}}}", fmt::join(shares, ", "), end));
  }
  return fmt::format("[{}]", fmt::join(texts, ", "));
}
std::string format_field(const NamedChoice& value) { return format_text(std::string(value.name())); }
std::string format_field(const NamedChoices& values) { return format_field(values.chosen_names()); }
template <typename Number>
std::string format_field(const std::vector<Number>& values) {
  std::vector<std::string> numbers;
  for (const Number value : values) numbers.push_back(format_number(value));
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}
template <typename T>
std::string format_field(const std::optional<T>& value) {
  return value ? format_number(*value) : "null";
}

std::string type_of(bool) { return "true or false"; }
std::string type_of(int64_t) { return "whole number"; }
std::string type_of(double) { return "number"; }
std::string type_of(const std::string&) { return "text"; }
std::string type_of(const std::vector<std::string>&) { return "list of texts"; }
std::string type_of(const std::vector<int64_t>&) { return "list of whole numbers"; }
std::string type_of(const std::vector<double>&) { return "list of numbers"; }
std::string type_of(const std::vector<TextSet>&) { return "list of sets"; }
std::string type_of(const std::vector<TrainingStage>&) { return "list of stages"; }
std::string type_of(const NamedChoice&) { return "text"; }
std::string type_of(const NamedChoices&) { return "list of texts"; }
template <typename T>
std::string type_of(const std::optional<T>&) {
  return type_of(T{}) + " or null";
}

}  // namespace

std::string shown(const std::string& text) {
  constexpr size_t kLongest = 60;
  std::string result;
  for (const char c : printable(std::string_view(text).substr(0, 4 * kLongest + 4))) {  // a byte of at most four
    if (result.size() >= kLongest && !is_continuation_byte(c)) return result + "...";   // not within a character
    result += c == '\t' ? '?' : c;
  }
  return result;
}

void assign_value(Config& config, const Option& option, const YAML::Node& value, const std::string& where) {
  const Reading reading{option, where};
  std::visit([&](auto* field) { read(reading, value, *field); }, option.of(config));
}

std::string format_value(const Option& option, const Config& config) {
  // The field is only read here; the table gives places to write to.
  return std::visit([](const auto* field) { return format_field(*field); }, option.of(const_cast<Config&>(config)));
}

std::string type_name(const Option& option) {
  Config config;
  return std::visit([](const auto* field) { return type_of(*field); }, option.of(config));
}

std::span<const std::string_view> choices_of(const Option& option) {
  Config config;
  const Field field = option.of(config);
  if (auto* const* choice = std::get_if<NamedChoice*>(&field)) return (*choice)->names();
  if (auto* const* choices = std::get_if<NamedChoices*>(&field)) return (*choices)->names();
  return {};
}

std::string describe_limits(const Option& option) {
  if (const auto* range = std::get_if<Range>(&option.limits)) {
    return range_text(*range, type_name(option).starts_with("whole"));
  }
  if (const auto choices = choices_of(option); !choices.empty()) return fmt::format("{}", fmt::join(choices, ", "));
  if (const auto* rule = std::get_if<TextRule>(&option.limits)) return std::string(rule->description);
  return "";
}

std::optional<bool> parse_truth(const YAML::Node& value) {
  bool truth = false;
  if (!value.IsScalar() || is_quoted(value) || !YAML::convert<bool>::decode(value, truth)) return std::nullopt;
  return truth;
}

}  // namespace nmt
