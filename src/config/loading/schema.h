#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/rules/rule_checker.h"

namespace nmt {

/// A configuration read from `path` (with its `base:` files), then `--set section.key=value` settings applied, then
/// checked. Every mistake is an Error "FILE:LINE: what is wrong; did you mean ...?" (settings: "--set training.lrr=1:
/// ..."). notices: accepted old names and the like, one line each, for the log.
struct LoadedConfig {
  Config config;
  std::vector<std::string> notices;
  std::vector<std::filesystem::path> files;  ///< `path` and its base files; none of text
};

/// A text of the command line that stands for an option as it is, without YAML.
struct PlainSetting {
  std::string flag, key, text;  ///< "--run-dir", "run.dir", "runs/a"
};

/// Completes a configuration before it is checked; of its options those in `origins` were set.
using Completion = std::function<void(Config& config, const Origins& origins)>;

/// The plain settings are applied last. An empty path: of settings alone. training.init_from is not read:
/// load_run_config() of config/loading/initial_model.h does that.
LoadedConfig load_config(const std::filesystem::path& path, const std::vector<std::string>& settings = {},
                         const std::vector<PlainSetting>& plain = {}, const Completion& complete = {});

/// From YAML text (name is shown in messages): model.json's and checkpoints' stored configurations use it too. It has
/// no `base:`, and training.init_from is not read.
LoadedConfig parse_config(const std::string& yaml, const std::string& name,
                          const std::vector<std::string>& settings = {});

/// The complete effective configuration as YAML, every option with its help as comment where `comments`.
enum class YamlComments { kNone, kHelp };
std::string to_yaml(const Config& config, YamlComments comments = YamlComments::kNone);

/// The options that `config` and `from` differ in, as YAML.
std::string changed_yaml(const Config& config, const Config& from = {});

}  // namespace nmt
