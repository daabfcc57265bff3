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
struct Setting {
  std::string key;                 ///< "model.norm"
  std::vector<std::string> words;  ///< what it may be, true and false among them; empty: anything
  bool is_text = false;            ///< perhaps the name of a file
};

/// Every option of the configuration.
std::vector<Setting> settings();

/// What a completion says of an option: its help up to the first pause, at most 80 characters.
std::string short_help(const OptionDescription& option);

/// One file for nmt and all programs; it needs nothing but bash 4.
std::string bash_completion(const std::vector<ProgramDescription>& programs);
/// One file for nmt and all programs, for a folder of zsh's fpath.
std::string zsh_completion(const std::vector<ProgramDescription>& programs);
/// A file for nmt itself (all programs are its commands) and one for each program: fish loads them by name.
std::string fish_completion(const std::vector<ProgramDescription>& programs);
std::string fish_completion(const ProgramDescription& program);

}  // namespace nmt
