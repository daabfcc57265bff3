#include "config/option_reference.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/strict_json.h"
#include "config/option_table.h"
#include "config/value.h"

namespace nmt {
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

std::string row(const Option& option) {
  const Config defaults;
  return fmt::format("| `{}` | {} | `{}` | {} | {} | {} |\n", option.name, type_name(option),
                     format_value(option, defaults), escaped(describe_limits(option)),
                     option.on_resume == OnResume::kMayChange ? "yes" : "no", escaped(std::string(option.help)));
}

}  // namespace

std::string option_reference() {
  std::string text =
      "# Options\n\n"
      "Every option of the configuration, made from the table in `src/config/option_table.cpp`. In a file an option\n"
      "stands below its section, on the command line it is written `--set section.name=value`; a list is `[a, b]`.\n"
      "The column *resume* says whether a run that goes on may have another value than before. An option of a part "
      "that\n"
      "is not chosen is refused or has no effect: `model.sinusoid` has none with `positions: learned`.\n";
  for (const Section& section : sections()) {
    text += fmt::format("\n## {}\n\n{}{}.\n\n", section.name, static_cast<char>(std::toupper(section.help[0])),
                        section.help.substr(1));
    text += "| option | type | default | allowed | resume | meaning |\n| --- | --- | --- | --- | --- | --- |\n";
    for (const Option& option : options()) {
      if (option.section == section.name) text += row(option);
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

}  // namespace nmt
