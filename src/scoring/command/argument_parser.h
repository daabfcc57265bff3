#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nmt::scoring {

/// How many words an option takes.
enum class Arity { kFlag, kOne, kAny, kAtLeastOne };

struct ArgumentOption {
  std::vector<std::string> names;  ///< "--tokenize", "-tok"; the first one names it in messages and results
  Arity arity = Arity::kFlag;
  std::vector<std::string> choices = {};          ///< empty: anything
  bool ends_parsing = false;                      ///< --help, --version: what follows is not looked at
  std::string excludes = {};                      ///< the name of an option that it cannot stand beside
  bool whole_name_only = false;                   ///< no beginning of its name stands for it
  std::string group = {}, value = {}, help = {};  ///< for the help text; no group: not in it
};

struct ParsedArguments {
  std::vector<std::string> positionals;
  std::map<std::string, std::vector<std::string>> options;  ///< by first name; a later use replaces an earlier one
  std::string ended_by;                                     ///< the option that ended parsing, or empty

  bool has(const std::string& name) const { return options.contains(name); }
};

/// The rules of Python's argparse for a command line with one positional argument of any number: options of any length
/// after one dash, unambiguous beginnings of long options, "--option=value", "-w4", "-qb", negative numbers as values,
/// "--". Throws nmt::Error for what argparse refuses.
ParsedArguments parse_arguments(const std::vector<ArgumentOption>& options, const std::vector<std::string>& arguments);

}  // namespace nmt::scoring
