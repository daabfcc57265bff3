#include "config/loading/schema.h"

#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "base/unicode.h"
#include "config/loading/old_programs.h"
#include "config/loading/yaml_reader.h"
#include "config/option_table.h"
#include "config/rules/consistency.h"
#include "config/suggestion.h"
#include "config/value.h"

namespace nmt {
namespace {

/// What to do about a name that no option has.
std::string advice(const Setting& setting) {
  const bool from_file = setting.line > 0;
  if (setting.section.empty() && setting.name == "base") return "; it stands in a file only";
  for (const Section& section : sections()) {
    if (!setting.section.empty()) break;
    if (setting.name == section.name) return fmt::format("; write {}.key=value", section.name);
    const std::string start = std::string(section.name) + ".";
    if (from_file && setting.name.starts_with(start)) {
      return fmt::format("; write {} below {}:", setting.name.substr(start.size()), section.name);
    }
  }
  return suggest_option(setting.section, setting.name);
}

/// Applies settings one after the other.
class Loader {
 public:
  /// What a file of his names implies, before anything is set.
  void begin(const OldProgramSettings& old) {
    program_ = old.program;
    for (const auto& setting : old.settings) imply(setting);
    if (!old.notice.empty()) loaded_.notices.push_back(old.notice);
  }

  void apply(const std::vector<Setting>& settings) {
    for (const auto& setting : settings) apply(setting);
  }

  void apply(const Setting& setting) {
    const Option* option = find_option(setting.section, setting.name);
    const auto old = option && !is_old_reading(setting) ? read_old_value(setting) : read_old_name(setting, program_);
    if (old) {
      for (const auto& renamed : old->settings)
        assign(*find_option(renamed.section, renamed.name), renamed, setting.name);
      for (const auto& implied : old->implied) {
        if (!places_.contains(implied.key())) imply(implied);
      }
      loaded_.notices.push_back(fmt::format("{}: {}", setting.where(), old->notice));
    } else if (option) {
      assign(*option, setting, setting.name);
    } else {
      throw Error(fmt::format("{}: unknown option {}{}", setting.where(), setting.key(), advice(setting)));
    }
  }

  LoadedConfig finish(const std::string& name, const Completion& complete) {
    implied_.insert(origins_.begin(), origins_.end());
    if (complete) complete(loaded_.config, implied_);
    check_explicit(loaded_.config, implied_);
    check_consistency(loaded_.config, name, origins_);
    return std::move(loaded_);
  }

 private:
  struct Place {
    std::string source;
    int line = 0;
    std::string name;  // as it was written
  };

  /// model.sinusoid is an option with texts here; True and False are its values of 2017.
  static bool is_old_reading(const Setting& setting) {
    return setting.name == "sinusoid" && parse_truth(setting.value).has_value();
  }

  void imply(const Setting& setting) {
    assign_value(loaded_.config, *find_option(setting.section, setting.name), setting.value, setting.where());
    implied_[setting.key()] = setting.where();
  }

  void assign(const Option& option, const Setting& setting, const std::string& written) {
    const std::string key = option.key();
    // One file says each thing once, under whatever name; a --set may correct an earlier one.
    const auto before = places_.find(key);
    if (before != places_.end() && setting.line > 0 && before->second.source == setting.source) {
      const Place& first = before->second;
      const std::string names =
          first.name == written ? "" : fmt::format(": {} and {} are names of it; leave one out", first.name, written);
      throw Error(fmt::format("{}: {} is set twice, first in line {}{}", setting.where(), key, first.line, names));
    }
    assign_value(loaded_.config, option, setting.value, setting.where());
    places_[key] = {setting.source, setting.line, written};
    origins_[key] = setting.where();
  }

  LoadedConfig loaded_;
  OldProgram program_ = OldProgram::kNone;
  Origins origins_, implied_;
  std::map<std::string, Place> places_;  // of the last setting of each option
};

Setting setting_of(const PlainSetting& plain) {
  if (find_invalid_utf8(plain.text)) throw Error(plain.flag + ": not UTF-8 text; name another one");
  const size_t point = plain.key.find('.');
  return {plain.key.substr(0, point), plain.key.substr(point + 1), YAML::Node(plain.text),
          fmt::format("{} {}", plain.flag, shown(plain.text))};
}

LoadedConfig load(const std::vector<Setting>& from_file, const std::vector<std::string>& settings,
                  const std::string& name, const Completion& complete, const std::vector<PlainSetting>& plain = {}) {
  const auto old = settings_of_old_program(from_file);
  try {
    Loader loader;
    loader.begin(old);
    loader.apply(from_file);
    for (const auto& setting : settings) loader.apply(parse_setting(setting));
    for (const auto& setting : plain) loader.apply(setting_of(setting));
    return loader.finish(name, complete);
  } catch (const Error& error) {
    // Names of both programs: what is wrong is often one that the other program has not.
    if (old.program == OldProgram::kNone && !old.notice.empty())
      throw Error(fmt::format("{} ({})", error.what(), old.notice));
    throw;
  }
}

std::string help_comment(const Option& option) {
  const std::string limits = describe_limits(option);
  return limits.empty() ? std::string(option.help) : fmt::format("{} ({})", option.help, limits);
}

}  // namespace

LoadedConfig load_config(const std::filesystem::path& path, const std::vector<std::string>& settings,
                         const std::vector<PlainSetting>& plain, const Completion& complete) {
  auto [from_file, files] = path.empty() ? FileSettings() : read_settings(path);
  const auto name = path.empty() ? "settings" : path.string();
  auto loaded = load(from_file, settings, name, complete, plain);
  loaded.files = std::move(files);
  return loaded;
}

LoadedConfig parse_config(const std::string& yaml, const std::string& name, const std::vector<std::string>& settings) {
  return load(read_settings(yaml, name), settings, name, {});
}

std::string to_yaml(const Config& config, YamlComments comments) {
  std::string yaml;
  for (const Section& section : sections()) {
    if (!yaml.empty()) yaml += '\n';
    if (comments == YamlComments::kHelp) yaml += fmt::format("# {}\n", section.help);
    yaml += fmt::format("{}:\n", section.name);
    for (const Option& option : options()) {
      if (option.section != section.name) continue;
      if (comments == YamlComments::kHelp) yaml += fmt::format("  # {}\n", help_comment(option));
      yaml += fmt::format("  {}: {}\n", option.name, format_value(option, config));
    }
  }
  return yaml;
}

std::string changed_yaml(const Config& config, const Config& from) {
  std::string yaml;
  for (const Section& section : sections()) {
    std::string rows;
    for (const Option& option : options()) {
      const std::string value = format_value(option, config);
      if (option.section == section.name && value != format_value(option, from))
        rows += fmt::format("  {}: {}\n", option.name, value);
    }
    if (!rows.empty()) yaml += fmt::format("{}:\n{}", section.name, rows);
  }
  return yaml;
}

}  // namespace nmt
