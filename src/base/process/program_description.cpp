#include "base/process/program_description.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/process/programs.h"
#include "base/strict_json.h"

namespace nmt {
namespace {

using nlohmann::json;

json named(const std::vector<NamedHelp>& entries) {
  json result = json::array();
  for (const auto& [name, help] : entries) result.push_back({{"name", name}, {"help", help}});
  return result;
}

}  // namespace

json to_json(const ProgramDescription& program) {
  const auto known = std::ranges::find_if(
      kPrograms, [&](const ProgramSummary& summary) { return program.name == fmt::format("nmt-{}", summary.name); });
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
          {"summary", known == kPrograms.end() ? "" : known->summary},
          {"position", known - kPrograms.begin()},
          {"description", program.description},
          {"usage", program.usage},
          {"examples", program.examples},
          {"exit_status", program.exit_status},
          {"arguments", named(program.arguments)},
          {"options", std::move(options)},
          {"environment", named(program.environment)}};
}

}  // namespace nmt
