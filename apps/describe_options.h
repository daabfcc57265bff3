#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/process/program_description.h"

namespace nmt {

/// The parts of text between separators, without those that have capitals: these are kinds (DIR, cuda:N), not words.
inline std::vector<std::string> words_between(std::string_view text, char separator) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    const std::string word(text.substr(0, end));
    if (std::ranges::none_of(word, [](char c) { return c >= 'A' && c <= 'Z'; })) words.push_back(word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// From CLI11's type name: ours (FILE, auto|cpu|cuda:N), behind it CLI11's checks ("TEXT:{test,valid}",
/// "INT:INT in [0 - 15]"); an option whose type lists words has no check.
inline void describe_value(const std::string& type, OptionDescription& option) {
  if (type.find('|') != std::string::npos) {
    option.value = type;
    option.choices = words_between(type, '|');
    return;
  }
  const size_t colon = std::min(type.find(':'), type.size());
  option.value = type.substr(0, colon);
  const std::string check = type.substr(std::min(colon + 1, type.size()));
  if (check.starts_with("{") && check.ends_with("}"))
    option.choices = words_between(std::string_view(check).substr(1, check.size() - 2), ',');
}

inline OptionDescription description_of(const CLI::Option& option) {
  OptionDescription result;
  for (const auto& name : option.get_snames()) result.names.push_back("-" + name);
  std::vector<std::string> negative = option.get_fnames();
  for (const auto& name : option.get_lnames()) {
    if (std::ranges::find(negative, name) == negative.end()) result.names.push_back("--" + name);
  }
  for (const auto& name : negative) result.names.push_back((name.size() == 1 ? "-" : "--") + name);
  if (option.get_items_expected_max() > 0) describe_value(option.get_type_name(), result);
  result.help = option.get_description();
  result.group = option.get_group();
  result.default_value = option.get_default_str();
  result.environment = option.get_envname();
  result.several_times = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  result.several_values = result.several_times && option.get_allow_extra_args();
  return result;
}

/// The command line that app reads.
inline ProgramDescription description_of(const CLI::App& app) {
  ProgramDescription program{.name = app.get_name(),
                             .description = app.get_description(),
                             .usage = "[OPTIONS]",
                             .examples = app.get_footer(),
                             .options = {}};
  std::vector<std::string> groups;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    if (std::ranges::find(groups, option->get_group()) == groups.end()) groups.push_back(option->get_group());
  }
  for (const auto& group : groups) {
    for (const CLI::Option* option : app.get_options())
      if (option->get_group() == group) program.options.push_back(description_of(*option));
  }
  return program;
}

}  // namespace nmt
