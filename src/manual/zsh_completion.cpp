#include "manual/zsh_completion.h"

#include <fmt/format.h>

#include "base/process/programs.h"
#include "manual/completion.h"

namespace nmt {
namespace {

/// Inside single quotes, for _arguments and _describe, which part at colons and brackets.
std::string zsh_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') result += '\\';
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return result;
}

std::string action(const OptionDescription& option) {
  switch (value_kind(option)) {
    case ValueKind::kNone:
      return "";
    case ValueKind::kText:
      return fmt::format(":{}: ", zsh_escaped(option.value));
    case ValueKind::kFile:
      return fmt::format(":{}:_files", zsh_escaped(option.value));
    case ValueKind::kFolder:
      return fmt::format(":{}:_files -/", zsh_escaped(option.value));
    case ValueKind::kSetting:
      return fmt::format(":{}:_nmt_setting", zsh_escaped(option.value));
    case ValueKind::kWords:
      break;
  }
  std::string words;
  for (const auto& choice : option.choices) words += (words.empty() ? "" : " ") + zsh_escaped(choice);
  return fmt::format(":{}:({})", zsh_escaped(option.value), words);
}

/// '(-c --config)-c[help]:FILE:_files' and the same for --config; * where it may come again.
std::string specification(const OptionDescription& option) {
  const bool again = option.several_times || option.several_values;
  const std::string excluded = again ? "*" : fmt::format("({})", fmt::join(option.names, " "));
  std::string text;
  for (const auto& name : option.names) {
    const char* joined = name.starts_with("--") && !option.value.empty() ? "=" : "";
    text +=
        fmt::format(" \\\n    '{}{}{}[{}]{}'", excluded, name, joined, zsh_escaped(short_help(option)), action(option));
  }
  return text;
}

}  // namespace

std::string zsh_completion(const std::vector<ProgramDescription>& programs) {
  std::string names, functions, commands, cases;
  for (const auto& program : programs) {
    names += " " + program.name;
    functions += fmt::format("\n_nmt_of_{}() {{\n  _arguments", program.name);
    for (const auto& option : program.options) functions += specification(option);
    for (const auto& [name, help] : program.arguments)
      functions += fmt::format(" \\\n    '*:{}:_files'", zsh_escaped(name));
    functions += "\n}\n";
  }
  for (const auto& [name, summary] : kPrograms) commands += fmt::format("    '{}:{}'\n", name, zsh_escaped(summary));
  std::string keys, values;
  for (const auto& setting : settings()) {
    keys += " " + setting.key;
    if (!setting.words.empty())
      values += fmt::format("      {}) compadd -- {} ;;\n", setting.key, fmt::join(setting.words, " "));
    else if (setting.is_text)
      values += fmt::format("      {}) _files ;;\n", setting.key);
  }
  return fmt::format(
      "#compdef nmt{}\n"
      "# zsh completion of nmt and its programs. Made by the build, of their own tables of options.\n\n"
      "_nmt_setting() {{\n"
      "  local key=${{PREFIX%%=*}}\n"
      "  if compset -P '*='; then\n    case $key in\n{}    esac\n"
      "  else\n    compadd -S '=' --{}\n  fi\n}}\n"
      "{}\n"
      "_nmt_command() {{\n  local -a commands=(\n{}    'help:this text, or the options of a command'\n  )\n"
      "  _describe command commands\n}}\n\n"
      "_nmt_front_door() {{\n"
      "  local curcontext=$curcontext state line\n"
      "  _arguments -C '--version[the version of the toolkit]' '--help[the commands]' '1:command:_nmt_command' "
      "'*::argument:->rest'\n"
      "  [[ $state == rest ]] || return\n"
      "  case $line[1] in\n    help) _nmt_command ;;\n"
      "    *) (( $+functions[_nmt_of_nmt-$line[1]] )) && _nmt_of_nmt-$line[1] ;;\n  esac\n}}\n\n"
      "case $service in\n  nmt) _nmt_front_door ;;\n  *) _nmt_of_$service ;;\nesac\n",
      names, values, keys, functions, commands);
}

}  // namespace nmt
