#pragma once

#include <string>
#include <vector>

#include "base/process/program_description.h"

namespace nmt {

/// What a shell offers for the value of an option.
enum class ValueKind {
  kNone,     ///< the option takes no value
  kText,     ///< nothing that a shell could know
  kWords,    ///< the option's choices
  kFile,     ///< names of files
  kFolder,   ///< names of folders
  kSetting,  ///< section.name=value: the options of the configuration
};

/// By the choices of the option, else by the name of its value: FILE, DIR, DIR|FILE, CONFIG, SECTION.KEY=VALUE, ...
ValueKind value_kind(const OptionDescription& option);

/// An option of the configuration behind --set.
struct SettingChoice {
  std::string key;                 ///< "model.norm"
  std::vector<std::string> words;  ///< what it may be, true and false among them; empty: anything
  bool is_text = false;            ///< perhaps the name of a file
};

/// Every option of the configuration.
std::vector<SettingChoice> settings();

/// What a completion says of an option: its help up to the first pause, at most 80 characters.
std::string short_help(const OptionDescription& option);

}  // namespace nmt
