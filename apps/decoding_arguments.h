#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/threads.h"
#include "config/config.h"
#include "config/option_table.h"
#include "config/rules/consistency.h"
#include "config/used_by.h"
#include "config/value.h"
#include "translation/model_set.h"

namespace nmt {

/// A flag for each option of the section `decoding`: --beam-size for decoding.beam_size. Meaning and limits are those
/// of the table of options.
class DecodingFlags {
 public:
  void add_to(CLI::App& app, const std::string& group) {
    for (const Option& option : options()) {
      if (option.section == "decoding") add_to(app, option)->group(group);
    }
  }

  bool has(std::string_view name) const {
    return std::ranges::any_of(given_, [&](const Given& given) { return given.option->name == name; });
  }

  /// Whether samples are asked for here; a model may say so itself.
  bool draws_samples() const {
    return std::ranges::any_of(
        given_, [](const Given& given) { return given.option->name == "sampling" && given.value.Scalar() == "true"; });
  }

  /// A model's own configuration, changed by the flags that are given, as follow_changes() has it. Throws Error.
  Config applied_to(Config config) const {
    if (given_.empty()) return config;
    std::vector<std::string> changed;
    for (const auto& [option, flag, value] : given_) {
      assign_value(config, *option, value, flag);
      changed.emplace_back(option->name);
    }
    follow_changes(config.decoding, changed);
    check_consistency(config, "command line");
    return config;
  }

 private:
  struct Given {
    const Option* option;
    std::string flag;  // as it was given, for messages
    YAML::Node value;
  };

  CLI::Option* add_to(CLI::App& app, const Option& option) {
    const std::string flag = flag_of(option.name);
    const auto choices = choices_of(option);  // the name of the value says them
    const std::string limits = choices.empty() ? describe_limits(option) : "";
    const std::string help = limits.empty() ? std::string(option.help) : fmt::format("{} ({})", option.help, limits);
    Config defaults;
    const Field field = option.of(defaults);
    if (std::holds_alternative<bool*>(field)) {
      const auto negated = ",!--no-" + flag.substr(2);
      return app.add_flag_function(
          flag + negated,
          [this, &option, flag](int64_t count) {
            given_.push_back({&option, flag, YAML::Node(count > 0 ? "true" : "false")});
          },
          help);
    }
    if (std::holds_alternative<std::vector<std::string>*>(field)) {
      return app
          .add_option_function<std::vector<std::string>>(
              flag,
              [this, &option, flag](const std::vector<std::string>& values) {
                YAML::Node list(YAML::NodeType::Sequence);
                for (const auto& value : values) list.push_back(value);
                given_.push_back({&option, flag, list});
              },
              help + "; may be given several times")
          ->allow_extra_args(false)
          ->type_name("TEXT");
    }
    return app
        .add_option_function<std::string>(
            flag,
            [this, &option, flag](const std::string& value) {
              given_.push_back({&option, flag + " " + value, YAML::Node(value)});
            },
            help)
        ->type_name(!choices.empty()                          ? fmt::format("{}", fmt::join(choices, "|"))
                    : std::holds_alternative<int64_t*>(field) ? "INT"
                    : std::holds_alternative<double*>(field)  ? "FLOAT"
                                                              : "TEXT");
  }

  std::vector<Given> given_;
};

/// The options of translations that were given, as flags; for check_used().
inline std::vector<std::string> given_options(const CLI::App& app) {
  std::vector<std::string> given;
  const auto add = [&](std::string_view name) {
    const auto* option = app.get_option_no_throw(flag_of(name));
    if (option && option->count() > 0) given.push_back(flag_of(name));
  };
  for (const auto& option : call_options()) add(option.name);
  for (const auto& option : options())
    if (option.section == "decoding") add(option.name);
  return given;
}

/// The options that nmt-translate and nmt-eval share: what is searched how, and on what.
struct DecodingArguments {
  DecodingFlags flags;
  std::string adapter;
  std::optional<int64_t> max_source_length;
  std::string device = "auto";
  int threads = 0;

  void add_to(CLI::App& app) {
    app.add_option("--adapter", adapter,
                   "adapter.safetensors of a training with training.lora_rank, added to the weights of the one model")
        ->type_name("FILE");
    const std::string group = "Search (default: what model.json says)";
    flags.add_to(app, group);
    app.add_option("--max-source-length", max_source_length,
                   "pieces; a longer line is translated in parts (default: 1024, or what learned positions allow)")
        ->group(group);
    const std::string machine = "Machine";
    app.add_option("--device", device, "auto: a GPU where there is one")
        ->group(machine)
        ->type_name("auto|cpu|cuda|cuda:N")
        ->capture_default_str();
    app.add_option("--threads", threads, fmt::format("at most {}; 0 = all processors", kMostThreads))
        ->group(machine)
        ->capture_default_str();
  }

  /// These models, with what is said here. Throws Error.
  ModelSetOptions model_set(std::vector<std::filesystem::path> directories, std::vector<double> weights) const {
    return {.directories = std::move(directories),
            .weights = std::move(weights),
            .device = device,
            .max_source_length = max_source_length,
            .changed = [this](const Config& config) { return flags.applied_to(config); },
            .threads = thread_count(),
            .adapter = adapter};
  }

  /// Throws Error.
  int thread_count() const {
    check_threads("--threads", threads);
    return threads > 0 ? threads : default_threads();
  }
};

}  // namespace nmt
