#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/edit_distance.h"
#include "base/error.h"
#include "base/process/version.h"
#include "base/strict_json.h"
#include "config/option_reference.h"
#include "describe_options.h"

namespace nmt {

/// What --version prints: the program's version, those of the libraries it stands on ("LibTorch 2.13.0"), the
/// processor.
inline std::string program_version(const std::string& program, const std::string& libraries = "") {
  return fmt::format("{} {}\n{}SentencePiece {}\nprocessor: {}; in use: {}", program, version(),
                     libraries.empty() ? "" : libraries + "\n", NMT_SENTENCEPIECE_VERSION, cpu_name(),
                     cpu_features().empty() ? "no extensions" : cpu_features());
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
