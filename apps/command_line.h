#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/edit_distance.h"
#include "base/error.h"
#include "base/files/strict_json.h"
#include "base/process/program_description.h"
#include "config/loading/schema.h"
#include "config/option_listing.h"

namespace nmt {

/// The parts of text between separators, without those that have capitals: these are kinds (DIR, cuda:N), not words.
inline std::vector<std::string> words_between(std::string_view text, char separator) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    const std::string word(text.substr(0, end));
    if (std::ranges::none_of(word, [](char c) { return c >= 'A' && c <= 'Z'; })) words.push_back(word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// From CLI11's type name: ours (FILE, auto|cpu|cuda:N), behind it CLI11's checks ("TEXT:{test,valid}",
/// "INT:INT in [0 - 15]"); an option whose type lists words has no check.
inline void describe_value(const std::string& type, OptionDescription& option) {
  if (type.find('|') != std::string::npos) {
    option.value = type;
    option.choices = words_between(type, '|');
    return;
  }
  const size_t colon = std::min(type.find(':'), type.size());
  option.value = type.substr(0, colon);
  const std::string check = type.substr(std::min(colon + 1, type.size()));
  if (check.starts_with("{") && check.ends_with("}"))
    option.choices = words_between(std::string_view(check).substr(1, check.size() - 2), ',');
}

inline OptionDescription description_of(const CLI::Option& option) {
  OptionDescription result;
  for (const auto& name : option.get_snames()) result.names.push_back("-" + name);
  std::vector<std::string> negative = option.get_fnames();
  for (const auto& name : option.get_lnames()) {
    if (std::ranges::find(negative, name) == negative.end()) result.names.push_back("--" + name);
  }
  for (const auto& name : negative) result.names.push_back((name.size() == 1 ? "-" : "--") + name);
  if (option.get_items_expected_max() > 0) describe_value(option.get_type_name(), result);
  result.help = option.get_description();
  result.group = option.get_group();
  result.default_value = option.get_default_str();
  result.environment = option.get_envname();
  result.several_times = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  result.several_values = result.several_times && option.get_allow_extra_args();
  return result;
}

/// The command line that app reads.
inline ProgramDescription description_of(const CLI::App& app) {
  ProgramDescription program{.name = app.get_name(),
                             .description = app.get_description(),
                             .usage = "[OPTIONS]",
                             .examples = app.get_footer(),
                             .options = {}};
  std::vector<std::string> groups;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      program.usage = option->get_name(true) + " " + program.usage;
      program.arguments.push_back({option->get_name(true), option->get_description()});
    }
    if (option->get_group().empty() || option->get_positional()) continue;
    if (std::ranges::find(groups, option->get_group()) == groups.end()) groups.push_back(option->get_group());
  }
  for (const auto& group : groups) {
    for (const CLI::Option* option : app.get_options())
      if (option->get_group() == group && !option->get_positional()) program.options.push_back(description_of(*option));
  }
  return program;
}

/// What --version prints: the program's version, those of the libraries it stands on ("LibTorch 2.13.0"), the
/// processor.
inline std::string program_version(const std::string& program, const std::string& libraries = "") {
  return fmt::format("{} {}\n{}SentencePiece {}\nprocessor: {}; in use: {}", program, version(),
                     libraries.empty() ? "" : libraries + "\n", NMT_SENTENCEPIECE_VERSION, cpu_name(),
                     cpu_features().empty() ? "no extensions" : cpu_features());
}

/// --print-config: `what` becomes all or changed; empty: it was not given.
inline CLI::Option* add_print_config(CLI::App& app, std::string& what) {
  const auto check = [](const std::string& given) {
    return given == "all" || given == "changed" ? std::string() : "'" + given + "' is neither all nor changed";
  };
  return app
      .add_option("--print-config", what,
                  "prints the effective configuration and ends: every option with its help, or those that are not at "
                  "their defaults")
      ->expected(0, 1)
      ->default_str("all")
      ->type_name("all|changed")
      ->check(check, "");
}

inline void print_config(const Config& config, const std::string& what) {
  std::cout << (what == "changed" ? changed_yaml(config) : to_yaml(config, YamlComments::kHelp));
}

/// Ends --help and the manual page with commands that show the usual ways.
inline void show_examples(CLI::App& app, const std::vector<std::string>& commands) {
  app.footer(fmt::format("Examples:\n  {}", fmt::join(commands, "\n  ")));
}

/// "; did you mean --beam-size?" for the first argument that no option has; empty where nothing is near.
inline std::string suggestion_for(const CLI::App& app, const std::vector<std::string>& unknown) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const auto* own : {&option->get_lnames(), &option->get_fnames()})
      names.insert(names.end(), own->begin(), own->end());
  for (const auto& argument : unknown) {
    if (!argument.starts_with("--")) continue;
    const auto meant = nearest_name(argument.substr(2, argument.find('=') - 2), names);
    if (meant) return fmt::format("; did you mean --{}?", *meant);
  }
  return "";
}

/// A flag takes no value, or true or false (--scores=false), not the numbers and words that CLI11 takes for counts.
/// Looked for before it parses: it would name --scores where --no-scores was given. Throws Error.
inline void check_flag_values(const CLI::App& app, std::span<char* const> arguments) {
  const auto option_of = [&](const std::string& name) -> const CLI::Option* {
    for (const CLI::Option* option : app.get_options())
      if (option->check_name(name)) return option;
    return nullptr;
  };
  bool is_value = false;  // of the option before it
  for (const std::string argument : arguments) {
    if (std::exchange(is_value, false)) continue;
    if (argument == "--") return;
    if (!argument.starts_with("-")) continue;
    const size_t equals = argument.find('=');
    const auto name = argument.substr(0, equals);
    const CLI::Option* const option = option_of(name);
    if (!option) continue;
    if (equals == std::string::npos) is_value = option->get_items_expected_min() > 0;
    if (equals == std::string::npos || option->get_items_expected_max() > 0 || !argument.starts_with("--")) continue;
    const auto value = argument.substr(equals + 1);
    if (!value.empty() && value != "true" && value != "false")
      throw Error(
          fmt::format("{}: is a flag; give it no value, or true or false; see {} --help", name, app.get_name()));
  }
}

/// Parses the command line of a program. False if that was all (--help, --version, --describe-options). Throws Error
/// for what is wrong with it.
inline bool parse_command_line(CLI::App& app, int argc, char** argv) {
  if (argc == 2 && argv[1] == kDescribeOptions) {
    auto description = to_json(description_of(app));
    if (app.get_option_no_throw("--set") != nullptr) description["configuration"] = options_json();
    std::cout << description.dump(1) << '\n';
    return false;
  }
  check_flag_values(app, std::span(argv, argc).subspan(1));
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::Success& request) {  // --help, --version: text on standard output
    app.exit(request);
    return false;
  } catch (const CLI::ExtrasError&) {  // which names them last to first
    const auto unknown = app.remaining();
    throw Error(fmt::format("The following argument{} not expected: {}{}; see {} --help",
                            unknown.size() > 1 ? "s were" : " was", fmt::join(unknown, " "),
                            suggestion_for(app, unknown), app.get_name()));
  } catch (const CLI::ParseError& error) {
    std::string message = error.what();
    for (char& c : message) {
      if (c == '\n') c = ' ';
    }
    throw Error(fmt::format("{}; see {} --help", message, app.get_name()));
  }
}

}  // namespace nmt
