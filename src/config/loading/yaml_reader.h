#pragma once

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <string>
#include <vector>

#include "config/option_table.h"

namespace nmt {

/// One "name: value" of a configuration, before it is known whether there is such an option.
struct Setting {
  std::string section;  ///< empty: at the top level
  std::string name;
  YAML::Node value;
  std::string source;  ///< the file, or the whole of a --set
  int line = 0;        ///< from 1; 0: not from a file

  std::string where() const;  ///< "FILE:LINE" or "--set section.key=value"
  std::string key() const;    ///< "section.name" or "name", as it is shown in messages
};

/// What stands in a file and in its `base:` files.
struct FileSettings {
  std::vector<Setting> settings;             ///< those of a base before those of the file that names it
  std::vector<std::filesystem::path> files;  ///< all that were read
};

/// Throws Error ("FILE:LINE: ...") for what is not UTF-8, not YAML or not a map of sections, for a name that stands
/// twice, for a base that is neither a regular file nor a preset, and for files that are each other's base.
FileSettings read_settings(const std::filesystem::path& file);

/// The same from text; `name` stands for the file in messages. It has no `base:`, which Error says: such text may come
/// from a stranger's model, who is not to name files of this machine.
std::vector<Setting> read_settings(const std::string& yaml, const std::string& name);

/// A value of this option as one types it: YAML, but a text or a list of one needs no quotes. Throws Error ("WHERE:
/// ...").
YAML::Node parse_value(const Option& option, const std::string& text, const std::string& where);

/// A setting "section.key=value" of the command line. Throws Error.
Setting parse_setting(const std::string& text);

}  // namespace nmt
