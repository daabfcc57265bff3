#include "manual/fish_completion.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/process/programs.h"
#include "manual/completion.h"

namespace nmt {
namespace {

constexpr std::string_view kTitle =
    "# fish completion of {}. Made by the build, of the programs' own tables of options.\n";

std::string fish_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

/// -s c, -l config, -o nr (fish's three kinds of names)
std::string name_flags(const OptionDescription& option) {
  std::string text;
  for (const auto& name : option.names) {
    if (name.starts_with("--"))
      text += " -l " + name.substr(2);
    else
      text += (name.size() == 2 ? " -s " : " -o ") + name.substr(1);
  }
  return text;
}

std::string value_flags(const OptionDescription& option) {
  switch (value_kind(option)) {
    case ValueKind::kNone:
      return "";
    case ValueKind::kText:
      return " -x";
    case ValueKind::kFile:
      return " -r -F";
    case ValueKind::kFolder:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::kSetting:
      return " -x -a '(__nmt_settings)'";
    case ValueKind::kWords:
      break;
  }
  return fmt::format(" -x -a {}", fish_quoted(fmt::format("{}", fmt::join(option.choices, " "))));
}

bool takes_settings(const ProgramDescription& program) {
  return std::ranges::any_of(program.options, [](const auto& o) { return value_kind(o) == ValueKind::kSetting; });
}

/// The options of the configuration, and behind = what they may be.
std::string settings_function() {
  std::string keys, values;
  for (const auto& setting : settings()) {
    keys += " " + setting.key + "=";
    if (!setting.words.empty())
      values += fmt::format("        case '{0}=*'\n            printf '{0}=%s\\n' {1}\n", setting.key,
                            fmt::join(setting.words, " "));
  }
  return fmt::format(
      "function __nmt_settings\n    switch (commandline -ct)\n{}        case '*'\n"
      "            printf '%s\\n'{}\n    end\nend\n",
      values, keys);
}

/// The lines for the options of a program, where `before` is "-c nmt-train" or "-c nmt -n CONDITION".
std::string option_lines(const ProgramDescription& program, const std::string& before) {
  std::string text;
  if (program.arguments.empty()) text += fmt::format("complete {} -f\n", before);
  for (const auto& option : program.options)
    text += fmt::format("complete {}{}{} -d {}\n", before, name_flags(option), value_flags(option),
                        fish_quoted(short_help(option)));
  return text;
}

}  // namespace

std::string fish_completion(const ProgramDescription& program) {
  return fmt::format(fmt::runtime(kTitle), program.name) + (takes_settings(program) ? settings_function() : "") +
         option_lines(program, "-c " + program.name);
}

std::string fish_completion(const std::vector<ProgramDescription>& programs) {
  std::string text = fmt::format(fmt::runtime(kTitle), "nmt") + settings_function();
  text += "complete -c nmt -n __fish_use_subcommand -f\n";
  for (const auto& [name, summary] : kPrograms)
    text += fmt::format("complete -c nmt -n __fish_use_subcommand -a {} -d {}\n", name, fish_quoted(summary));
  text +=
      "complete -c nmt -n __fish_use_subcommand -a help -d 'the commands, or the options of one'\n"
      "complete -c nmt -n __fish_use_subcommand -l version -d 'the version of the toolkit'\n";
  std::string all;
  for (const auto& [name, summary] : kPrograms) all += fmt::format(" {}", name);
  text += fmt::format("complete -c nmt -n '__fish_seen_subcommand_from help' -f -a {}\n", fish_quoted(all.substr(1)));
  for (const auto& program : programs) {
    const std::string command = program.name.substr(std::string_view("nmt-").size());
    text += option_lines(program, fmt::format("-c nmt -n '__fish_seen_subcommand_from {}'", command));
  }
  return text;
}

}  // namespace nmt
