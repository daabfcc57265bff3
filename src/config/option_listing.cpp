#include "config/option_listing.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/files/strict_json.h"
#include "base/unicode.h"
#include "config/option_table.h"
#include "config/value.h"

namespace nmt {

std::vector<ConfigDifference> differences(const Config& before, const Config& after) {
  std::vector<ConfigDifference> result;
  for (const Option& option : options()) {
    std::string old_value = format_value(option, before), new_value = format_value(option, after);
    if (old_value == new_value) continue;
    result.push_back({.key = option.key(),
                      .before = std::move(old_value),
                      .after = std::move(new_value),
                      .may_change_on_resume = option.on_resume == OnResume::kMayChange});
  }
  return result;
}

std::map<std::string, std::string> section_values(const Config& config, std::string_view section) {
  std::map<std::string, std::string> values;
  for (const Option& option : options())
    if (option.section == section) values.emplace(option.name, format_value(option, config));
  return values;
}

namespace {

template <typename T>
nlohmann::ordered_json json_of(const T& value) {
  return value;
}
template <typename T>
nlohmann::ordered_json json_of(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json json_of(const NamedChoice& value) { return value.name(); }
nlohmann::ordered_json json_of(const std::vector<TextSet>& sets) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& [name, source, target, languages] : sets) {
    auto& json = list.emplace_back(nlohmann::ordered_json{{"name", name}, {"source", source}, {"target", target}});
    if (!languages.empty()) json["languages"] = languages;
  }
  return list;
}
nlohmann::ordered_json json_of(const std::vector<TrainingStage>& stages) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& stage : stages) {
    auto& json = list.emplace_back(nlohmann::ordered_json::object());
    for (const auto& [name, share] : stage.shares) json["shares"][name] = share;
    if (stage.end != StageEnd::kRun) json[stage.end.name()] = stage.limit;
  }
  return list;
}
nlohmann::ordered_json json_of(const NamedChoices& values) { return values.chosen_names(); }

}  // namespace

nlohmann::ordered_json to_json(const Config& config) {
  Config copy = config;  // the table speaks of places that may be written
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const Option& option : options())
    json[std::string(option.section)][std::string(option.name)] =
        std::visit([](const auto* value) { return json_of(*value); }, option.of(copy));
  return json;
}

namespace {

/// A table's columns are parted by bars.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '*') result += '\\';
    result += c;
  }
  return result;
}

constexpr std::string_view kHeading =
    "| option | type | default | allowed | resume | meaning |\n| --- | --- | --- | --- | --- | --- |\n";

std::string row(const Option& option, std::string_view name) {
  const Config defaults;
  return fmt::format("| `{}` | {} | `{}` | {} | {} | {} |\n", name, type_name(option), format_value(option, defaults),
                     escaped(describe_limits(option)), option.on_resume == OnResume::kMayChange ? "yes" : "no",
                     escaped(std::string(option.help)));
}

// What a first run is most often changed by, in the order in which one meets it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kStartHere{{{"data", "train1"},
                                                                                    {"data", "train2"},
                                                                                    {"data", "vocab_size"},
                                                                                    {"model", "d_model"},
                                                                                    {"model", "num_blocks"},
                                                                                    {"model", "dropout_rate"},
                                                                                    {"training", "batch_size"},
                                                                                    {"training", "lr"},
                                                                                    {"training", "warmup_steps"},
                                                                                    {"training", "num_epochs"},
                                                                                    {"validation", "patience"},
                                                                                    {"decoding", "beam_size"}}};

}  // namespace

std::string option_reference() {
  std::string text =
      "# Options\n\n"
      "Every option of the configuration, made from the table in `src/config/option_table.cpp`. In a file an option\n"
      "stands below its section, on the command line it is written `--set section.name=value`; a list is `[a, b]`.\n"
      "The column *resume* says whether a run that is resumed may have another value than before. An option of a part "
      "that\n"
      "is not chosen is refused or has no effect: `model.sinusoid` has none with `positions: learned`.\n"
      "\n## Start here\n\nTwelve options that matter most, in the order in which one meets them; each stands in its "
      "section again.\n\n";
  text += kHeading;
  for (const auto& [section, name] : kStartHere) {
    const Option& option = *find_option(section, name);
    text += row(option, option.key());
  }
  for (const Section& section : sections()) {
    text += fmt::format("\n## {}\n\n{}{}.\n\n", section.name, static_cast<char>(std::toupper(section.help[0])),
                        section.help.substr(1));
    text += kHeading;
    for (const Option& option : options()) {
      if (option.section == section.name) text += row(option, option.name);
    }
  }
  return text;
}

nlohmann::json options_json() {
  nlohmann::json listed_sections = nlohmann::json::array(), listed = nlohmann::json::array();
  for (const Section& section : sections()) listed_sections.push_back({{"name", section.name}, {"help", section.help}});
  Config defaults;
  for (const Option& option : options()) {
    const Field field = option.of(defaults);
    auto choices = nlohmann::json::array();
    for (const std::string_view word : choices_of(option)) choices.push_back(word);
    if (std::holds_alternative<bool*>(field)) choices = {"true", "false"};
    const bool is_text = choices.empty() && (std::holds_alternative<std::string*>(field) ||
                                             std::holds_alternative<std::vector<std::string>*>(field));
    listed.push_back({{"section", option.section},
                      {"name", option.name},
                      {"help", option.help},
                      {"type", type_name(option)},
                      {"default", format_value(option, defaults)},
                      {"limits", describe_limits(option)},
                      {"choices", std::move(choices)},
                      {"is_text", is_text},
                      {"may_change", option.on_resume == OnResume::kMayChange}});
  }
  return {{"sections", std::move(listed_sections)}, {"options", std::move(listed)}};
}

std::string options_about(std::string_view word) {
  const std::string wanted = lower_case(word);
  const Config defaults;
  std::string text;
  for (const Option& option : options()) {
    const std::string key = fmt::format("{}.{}", option.section, option.name);
    if ((key + " " + lower_case(option.help)).find(wanted) == std::string::npos) continue;
    const std::string value = format_value(option, defaults), limits = describe_limits(option);
    text += fmt::format("{}: {} ({}{}{})\n    {}\n", key, value.empty() ? "''" : value, type_name(option),
                        limits.empty() ? "" : "; ", limits, option.help);
  }
  return text;
}

}  // namespace nmt
