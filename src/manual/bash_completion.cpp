#include "manual/bash_completion.h"

#include <fmt/format.h>

#include "base/process/programs.h"
#include "manual/completion.h"

namespace nmt {
namespace {

/// The part that knows bash: $cur is the beginning of the word, $at the place of its option among COMP_WORDS. bash
/// parts words at = (COMP_WORDBREAKS), so that --set model.norm=p comes as four.
constexpr std::string_view kEngine = R"bash(
# _nmt_reply KIND BEGINNING: fills COMPREPLY.
_nmt_reply() {
  case $1 in
    file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
    folder) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
    setting) compopt -o nospace 2>/dev/null; mapfile -t COMPREPLY < <(compgen -S = -W "$_nmt_settings" -- "$2") ;;
    words) mapfile -t COMPREPLY < <(compgen -W "$3" -- "$2") ;;
  esac
}

_nmt() {
  local program=${1##*/} first=1 cur=${COMP_WORDS[COMP_CWORD]} at
  COMPREPLY=()
  if [[ $program == nmt ]]; then
    if ((COMP_CWORD == 1)); then
      _nmt_reply words "$cur" "$_nmt_commands help --help --version"
      return
    fi
    if [[ ${COMP_WORDS[1]} == help ]]; then
      ((COMP_CWORD == 2)) && _nmt_reply words "$cur" "$_nmt_commands"
      return
    fi
    program=nmt-${COMP_WORDS[1]} first=2
  fi

  # NAME=VALUE
  at=COMP_CWORD
  if [[ $cur == = ]]; then
    cur=
  elif ((COMP_CWORD > first)) && [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
    at=COMP_CWORD-1
  else
    at=
  fi
  if [[ -n $at ]]; then
    local name=${COMP_WORDS[at - 1]} kind
    if [[ $name == -* ]]; then
      kind=$(_nmt_value "$program" "$name")
      _nmt_reply "${kind%% *}" "$cur" "${kind#* }"
    elif [[ $(_nmt_value "$program" "${COMP_WORDS[at - 2]}") == setting ]]; then
      kind=$(_nmt_setting "$name")
      _nmt_reply "${kind%% *}" "$cur" "${kind#* }"
    fi
    return
  fi

  # The value of the option before, or one of several values of an option farther before.
  if [[ $cur != -* ]]; then
    for ((at = COMP_CWORD - 1; at >= first; --at)); do
      [[ ${COMP_WORDS[at]} == -* ]] && break
    done
    if ((at >= first)); then
      local value
      value=$(_nmt_value "$program" "${COMP_WORDS[at]}")
      if [[ -n $value ]] && { ((at == COMP_CWORD - 1)) || _nmt_takes_several "$program" "${COMP_WORDS[at]}"; }; then
        _nmt_reply "${value%% *}" "$cur" "${value#* }"
        return
      fi
    fi
    if [[ -n $cur ]] || _nmt_takes_files "$program"; then
      _nmt_takes_files "$program" && _nmt_reply file "$cur"
      return
    fi
  fi
  _nmt_reply words "$cur" "$(_nmt_options "$program")"
}
)bash";

std::string bash_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// nmt-train:-c|nmt-train:--config
std::string pattern(const ProgramDescription& program, const OptionDescription& option) {
  std::string text;
  for (const auto& name : option.names) text += fmt::format("{}{}:{}", text.empty() ? "" : "|", program.name, name);
  return text;
}

std::string value_of(const OptionDescription& option) {
  switch (value_kind(option)) {
    case ValueKind::kNone:
      return "";
    case ValueKind::kText:
      return "text";
    case ValueKind::kFile:
      return "file";
    case ValueKind::kFolder:
      return "folder";
    case ValueKind::kSetting:
      return "setting";
    case ValueKind::kWords:
      break;
  }
  return fmt::format("words {}", fmt::join(option.choices, " "));
}

}  // namespace

std::string bash_completion(const std::vector<ProgramDescription>& programs) {
  std::string names, commands, keys, option_rows, value_rows, several, files, setting_rows;
  for (const auto& [name, summary] : kPrograms) commands += fmt::format("{}{}", commands.empty() ? "" : " ", name);
  for (const auto& program : programs) {
    names += " " + program.name;
    std::string all;
    for (const auto& option : program.options) {
      for (const auto& name : option.names) {
        if (name.starts_with("--") || option.names.size() == 1) all += (all.empty() ? "" : " ") + name;
      }
      const std::string value = value_of(option);
      if (!value.empty())
        value_rows += fmt::format("    {}) echo {} ;;\n", pattern(program, option), bash_quoted(value));
      if (option.several_values) several += fmt::format("{}{}", several.empty() ? "" : "|", pattern(program, option));
    }
    option_rows += fmt::format("    {}) echo {} ;;\n", program.name, bash_quoted(all));
    if (!program.arguments.empty()) files += (files.empty() ? "" : "|") + program.name;
  }
  for (const auto& setting : settings()) {
    keys += (keys.empty() ? "" : " ") + setting.key;
    if (!setting.words.empty())
      setting_rows += fmt::format("    {}) echo 'words {}' ;;\n", setting.key, fmt::join(setting.words, " "));
    else if (setting.is_text)
      setting_rows += fmt::format("    {}) echo file ;;\n", setting.key);
  }
  const auto no_match = [](const std::string& patterns) { return patterns.empty() ? std::string("-") : patterns; };
  return fmt::format(
             "# bash completion of nmt and its programs. Made by the build, of their own tables of options.\n"
             "_nmt_commands='{}'\n_nmt_settings='{}'\n\n"
             "# PROGRAM: its options\n_nmt_options() {{\n  case $1 in\n{}  esac\n}}\n\n"
             "# PROGRAM OPTION: what its value is\n_nmt_value() {{\n  case $1:$2 in\n{}  esac\n}}\n\n"
             "_nmt_takes_several() {{\n  case $1:$2 in\n    {}) return 0 ;;\n    *) return 1 ;;\n  esac\n}}\n\n"
             "_nmt_takes_files() {{\n  case $1 in\n    {}) return 0 ;;\n    *) return 1 ;;\n  esac\n}}\n\n"
             "# SECTION.NAME: what its value is\n_nmt_setting() {{\n  case $1 in\n{}  esac\n}}\n",
             commands, keys, option_rows, value_rows, no_match(several), no_match(files), setting_rows) +
         std::string(kEngine) + "\ncomplete -F _nmt nmt" + names + "\n";
}

}  // namespace nmt
