#include "manual/completion.h"

#include <algorithm>

#include "config/option_table.h"
#include "config/value.h"

namespace nmt {

ValueKind value_kind(const OptionDescription& option) {
  if (option.value.empty()) return ValueKind::kNone;
  if (!option.choices.empty()) return ValueKind::kWords;
  if (option.value.ends_with("KEY=VALUE")) return ValueKind::kSetting;
  if (option.value.find("FILE") != std::string::npos || option.value == "CONFIG") return ValueKind::kFile;
  return option.value == "DIR" ? ValueKind::kFolder : ValueKind::kText;
}

std::vector<SettingChoice> settings() {
  std::vector<SettingChoice> result;
  Config defaults;
  for (const Option& option : options()) {
    const Field field = option.of(defaults);
    SettingChoice setting{.key = option.key(), .words = {}};
    for (const std::string_view word : choices_of(option)) setting.words.emplace_back(word);
    if (std::holds_alternative<bool*>(field)) setting.words = {"true", "false"};
    setting.is_text = setting.words.empty() && (std::holds_alternative<std::string*>(field) ||
                                                std::holds_alternative<std::vector<std::string>*>(field));
    result.push_back(std::move(setting));
  }
  return result;
}

std::string short_help(const OptionDescription& option) {
  constexpr size_t kLongest = 80;
  std::string text = option.help.substr(0, option.help.find(';'));
  if (text.size() <= kLongest) return text;
  text.resize(text.rfind(' ', kLongest - 3));
  return text + " ...";
}

}  // namespace nmt
