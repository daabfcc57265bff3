#include "base/process/program_description.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/strict_json.h"

namespace nmt {
namespace {

using nlohmann::json;

json named(const std::vector<NamedHelp>& entries) {
  json result = json::array();
  for (const auto& [name, help] : entries) result.push_back({{"name", name}, {"help", help}});
  return result;
}

std::vector<NamedHelp> read_named(const json& entries) {
  std::vector<NamedHelp> result;
  for (const auto& entry : entries) result.push_back({entry.at("name"), entry.at("help")});
  return result;
}

}  // namespace

json to_json(const ProgramDescription& program) {
  json options = json::array();
  for (const auto& option : program.options) {
    options.push_back({{"names", option.names},
                       {"value", option.value},
                       {"choices", option.choices},
                       {"help", option.help},
                       {"group", option.group},
                       {"default", option.default_value},
                       {"environment", option.environment},
                       {"several_times", option.several_times},
                       {"several_values", option.several_values}});
  }
  return {{"name", program.name},
          {"description", program.description},
          {"usage", program.usage},
          {"examples", program.examples},
          {"exit_status", program.exit_status},
          {"arguments", named(program.arguments)},
          {"options", std::move(options)},
          {"environment", named(program.environment)}};
}

ProgramDescription read_program_description(std::string_view text) {
  try {
    const json given = json::parse(text);
    ProgramDescription program{.name = given.at("name"),
                               .description = given.at("description"),
                               .usage = given.at("usage"),
                               .examples = given.at("examples"),
                               .exit_status = given.at("exit_status"),
                               .arguments = read_named(given.at("arguments")),
                               .options = {},
                               .environment = read_named(given.at("environment"))};
    for (const auto& option : given.at("options")) {
      program.options.push_back({.names = option.at("names"),
                                 .value = option.at("value"),
                                 .choices = option.at("choices"),
                                 .help = option.at("help"),
                                 .group = option.at("group"),
                                 .default_value = option.at("default"),
                                 .environment = option.at("environment"),
                                 .several_times = option.at("several_times"),
                                 .several_values = option.at("several_values")});
    }
    return program;
  } catch (const json::exception& error) {
    throw Error(fmt::format("not the description of a program ({}): {}", kDescribeOptions, error.what()));
  }
}

}  // namespace nmt
