#include <CLI/CLI.hpp>
#include <iostream>

#include "base/app.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/signals.h"
#include "command_line.h"
#include "config/schema.h"
#include "data/prepare.h"

namespace {

using namespace nmt;

struct Arguments {
  std::string config;
  std::vector<std::string> settings;
  bool overwrite = false, print_config = false;
};

void declare(CLI::App& app, Arguments& arguments) {
  app.set_version_flag("--version", program_version("nmt-prepro"));
  app.get_formatter()->column_width(36);
  app.add_option("-c,--config", arguments.config, "configuration file (YAML)")->required()->type_name("CONFIG");
  app.add_option("--set", arguments.settings, "sets one option, over the file; as often as wanted")
      ->type_name("SECTION.KEY=VALUE")
      ->allow_extra_args(false);
  app.add_flag("--overwrite", arguments.overwrite, "replaces prepared data that was made of other files or options");
  app.add_flag("--print-config", arguments.print_config, "prints the complete effective configuration and ends");
}

int prepare(const Arguments& arguments) {
  const LoadedConfig loaded = load_config(arguments.config, arguments.settings);
  if (arguments.print_config) {
    std::cout << to_yaml(loaded.config, YamlComments::kHelp);
    return kDone;
  }
  catch_stop_signals();
  const auto log = make_logger("nmt-prepro");
  for (const auto& notice : loaded.notices) log->info("{}", notice);
  const PrepareOptions options{.overwrite = arguments.overwrite ? Overwrite::kReplace : Overwrite::kRefuse,
                               .should_stop = [] { return stop_signal() != 0; }};
  const PrepareResult result = prepare_data(loaded.config, options, *log);
  if (result.outcome == PrepareOutcome::kStopped) {
    log->warn("stopped; nothing was written");
    return stop_exit_code();
  }
  std::cout << result.table;
  if (result.outcome == PrepareOutcome::kUpToDate) {
    log->info("{} is up to date: nothing to do", loaded.config.data.dir);
  } else {
    log->info("{} is written", loaded.config.data.dir);
  }
  return kDone;
}

}  // namespace

int main(int argc, char** argv) {
  return run_app("nmt-prepro", [&] {
    CLI::App app("Reads and cleans parallel text, learns the vocabulary, writes the prepared data.",
                 "nmt-prepro");
    Arguments arguments;
    declare(app, arguments);
    return parse_command_line(app, argc, argv) ? prepare(arguments) : int{kDone};
  });
}
