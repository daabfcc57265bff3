// nmt-train: trains a model on prepared data; started again on the same run directory it resumes where it stopped.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_count.h"
#include "base/control_groups.h"
#include "base/error.h"
#include "base/process/app.h"
#include "base/process/log.h"
#include "command_line.h"
#include "config/loading/initial_model.h"
#include "config/loading/schema.h"
#include "data/prepared_data.h"
#include "nn/device/cpu_allocator.h"
#include "nn/device/device.h"
#include "observers.h"
#include "report/html/html_report.h"
#include "report/html/run_comparison.h"
#include "report/records/run_table.h"
#include "torch_version.h"
#include "training/distributed/launched_process.h"
#include "training/distributed/make_process_group.h"
#include "training/dry_run.h"
#include "training/run_training.h"

namespace nmt {
namespace {

struct Arguments {
  std::string config;
  std::vector<std::string> settings;
  std::optional<std::string> run_dir, from_model, device, precision;
  std::optional<int64_t> profile;
  std::optional<std::string> report_only;
  std::vector<std::string> compare;  // none or two run directories
  std::vector<int64_t> seeds;
  std::optional<std::string> memory;
  std::string print_config;
  bool restart = false, dry_run = false;

  void add_to(CLI::App& app) {
    app.set_version_flag("--version", program_version("nmt-train", torch_and_kernels()));
    app.get_formatter()->column_width(36);
    app.add_option("-c,--config", config, "configuration file (YAML)")->type_name("CONFIG");
    app.add_option("--set", settings, "sets one option, over the file; as often as wanted")
        ->type_name("SECTION.KEY=VALUE")
        ->allow_extra_args(false);
    app.add_option("--run-dir", run_dir, "run directory: run.dir of the configuration")->type_name("DIR");
    app.add_option("--from-model", from_model,
                   "model directory that a new run starts from: training.init_from of the configuration")
        ->type_name("DIR");
    app.add_option("--device", device, "run.device of the configuration")->type_name("auto|cpu|cuda|cuda:N");
    app.add_option("--precision", precision, "run.precision of the configuration")->type_name("auto|fp32|bf16|fp16");
    app.add_option("--profile", profile,
                   "traces N updates after the first ten: profile.json in the run directory, for chrome://tracing and "
                   "ui.perfetto.dev, and the ten most expensive operations in the log")
        ->type_name("N")
        ->check(CLI::Range(1, 1000000));
    app.add_option(
           "--report-only", report_only,
           "writes DIR/report.html of a run that has ended or is running, from the files in its directory DIR, and "
           "ends; needs no CONFIG")
        ->type_name("DIR");
    app.add_option("--compare", compare,
                   "writes SECOND/comparison.html, two runs on one page (curves over each other, options and sentences "
                   "that differ), and ends; needs no CONFIG")
        ->expected(2)
        ->type_name("FIRST SECOND");
    app.add_option("--seeds", seeds,
                   "trains a run for each seed, one after another, in the folders seed-N of the run directory, and "
                   "prints their best validations with means and deviations; given again, what is done is not repeated")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("N,N...");
    app.add_flag("--dry-run", dry_run,
                 "runs one update of the largest batch, says how much memory it took, and ends: where it does not fit, "
                 "with exit code 2 and what to change; writes nothing; needs the prepared data");
    app.add_option(
           "--memory", memory,
           "with --dry-run: the memory of the card that is meant, such as 80GB, which need not be here; else that "
           "of the device here")
        ->type_name("SIZE");
    app.add_flag("--restart", restart, "starts again; an old run is renamed to NAME.old-N");
    add_print_config(app, print_config);
  }

  /// Each of them is all that the program does.
  void check_modes(const CLI::App& app) const {
    std::vector<std::string> modes;
    if (report_only) modes.push_back("--report-only");
    if (!compare.empty()) modes.push_back("--compare");
    if (dry_run) modes.push_back("--dry-run");
    if (!print_config.empty()) modes.push_back("--print-config");
    if (!seeds.empty()) modes.push_back("--seeds");
    if (modes.size() > 1)
      throw Error(fmt::format("{}: does not go with {}; leave one of them out", modes[0], modes[1]));
    if (memory && !dry_run) throw Error("--memory: is for --dry-run");
    if (dry_run && (restart || profile))
      throw Error(fmt::format("{}: not with --dry-run, which trains nothing; leave it out",
                              restart ? "--restart" : "--profile"));
    const char* alone = report_only ? "--report-only" : "--compare";
    for (const auto* option : app.get_options())
      if ((report_only || !compare.empty()) && option->count() > 0 && option->get_name() != alone)
        throw Error(fmt::format("{}: not with {}; leave it out", option->get_name(), alone));
    for (auto seed = seeds.begin(); seed != seeds.end(); ++seed)
      if (std::find(seeds.begin(), seed, *seed) != seed)
        throw Error(fmt::format("--seeds: {} stands twice; leave one out", *seed));
  }

  /// --run-dir and its like are other names of options.
  std::vector<PlainSetting> plain_settings() const {
    std::vector<PlainSetting> plain;
    if (run_dir) plain.push_back({"--run-dir", "run.dir", *run_dir});
    if (from_model) plain.push_back({"--from-model", "training.init_from", *from_model});
    if (device) plain.push_back({"--device", "run.device", *device});
    if (precision) plain.push_back({"--precision", "run.precision", *precision});
    return plain;
  }
};

LaunchedProcess this_process() {
  return launched_process([](const char* name) -> const char* { return std::getenv(name); });
}

/// The name before messages: with several processes, all but the first say which they are.
std::string program_name() {
  try {
    const auto process = this_process();
    if (process.rank > 0) return fmt::format("nmt-train (rank {})", process.rank);
  } catch (const Error&) {
    // said by train()
  }
  return "nmt-train";
}

[[noreturn]] void end_without(const std::string& line) {
  fmt::print(stderr, "{}: {}\n", program_name(), line);
  std::_Exit(kMachineFailed);
}

/// With --memory the card that is meant need not be here: the update is measured on what is.
DryRunPlace dry_run_place(const Arguments& arguments, const Config& config, const LaunchedProcess& process) {
  const auto& wanted = config.run.device;
  const bool elsewhere = arguments.memory.has_value();
  DryRunPlace place{.device = device_of(process, elsewhere && wanted.starts_with("cuda") ? "auto" : wanted),
                    .elsewhere = elsewhere,
                    .processes = process.size};
  place.host = elsewhere ? wanted == "cpu" : place.device.is_cpu();
  const auto here = capabilities_of(place.device);
  const auto share = [&](bool host, int64_t memory) { return host ? memory / process.local_size : memory; };
  place.memory_here = share(place.device.is_cpu(), here.memory > 0 ? here.memory : memory_of_host());
  place.memory = elsewhere ? share(place.host, parse_bytes("--memory", *arguments.memory)) : place.memory_here;
  constexpr int kAmpere = 8;
  const auto can = elsewhere && !place.host ? capabilities_of_cuda(kAmpere, 0, place.memory) : here;
  place.precision = precision_name(resolve_precision(config.run.precision, can));
  return place;
}

int dry_run(const Arguments& arguments, const Config& config, const LaunchedProcess& process) {
  if (process.rank > 0) return kDone;
  check_batches_for(process.size, config);
  const auto answer = dry_run(config, open_prepared_data(config), dry_run_place(arguments, config, process));
  std::cout << answer.table << std::flush;
  if (!answer.fits) throw Error(answer.advice);
  return kDone;
}

/// further: settings over those of the command line.
int train(const Arguments& arguments, const std::vector<PlainSetting>& further = {}) {
  auto settings = arguments.plain_settings();
  settings.insert(settings.end(), further.begin(), further.end());
  const LoadedConfig loaded = load_run_config(arguments.config, arguments.settings, settings);
  const Config& config = loaded.config;
  const auto process = this_process();
  const auto log = make_logger("nmt-train");
  if (process.rank > 0) log->set_level(spdlog::level::err);
  for (const auto& notice : loaded.notices) log->info("{}", notice);
  if (!arguments.print_config.empty()) {
    if (process.rank == 0) print_config(config, arguments.print_config);
    return kDone;
  }
  if (arguments.dry_run) return dry_run(arguments, config, process);
  catch_stop_signals();
  const auto device = device_of(process, config.run.device);
  const auto group = make_process_group(process, device, config, end_without);
  TrainingRun run{.loaded = loaded,
                  .process = process,
                  .device = device,
                  .group = *group,
                  .start = arguments.restart ? RunDirectory::Start::kRestart : RunDirectory::Start::kResume,
                  .profile = arguments.profile,
                  .versions = {{"SentencePiece", NMT_SENTENCEPIECE_VERSION}}};
  if (auto observer = training_observer(config)) run.observers.push_back(std::move(observer));
  return run_training(std::move(run), *log).exit_code;
}

int train_seeds(const Arguments& arguments) {
  if (this_process().size > 1) throw Error("--seeds: trains in one process; start the runs one by one, with run.seed");
  const auto loaded = load_run_config(arguments.config, arguments.settings, arguments.plain_settings());
  std::vector<RunRecords> runs;
  for (const int64_t seed : arguments.seeds) {
    const auto directory = std::filesystem::path(loaded.config.run.dir) / fmt::format("seed-{}", seed);
    const int exit_code =
        train(arguments, {{"--seeds", "run.seed", std::to_string(seed)}, {"--seeds", "run.dir", directory.string()}});
    if (exit_code != kDone) return exit_code;
    runs.push_back(read_run(directory));
  }
  std::cout << run_table(runs) << std::flush;
  return kDone;
}

}  // namespace
}  // namespace nmt

int main(int argc, char** argv) {
  return nmt::run_app(nmt::program_name(), [&]() -> int {
    nmt::reuse_freed_tensors();
    CLI::App app{
        "Trains a model on prepared data. Started again on the same run directory it resumes exactly where it stopped.",
        "nmt-train"};
    nmt::Arguments arguments;
    arguments.add_to(app);
    nmt::show_examples(
        app, {"nmt-train -c mine.yaml", "nmt-train -c mine.yaml --set training.max_updates=1000 --run-dir runs/short"});
    if (!nmt::parse_command_line(app, argc, argv)) return nmt::kDone;
    arguments.check_modes(app);
    if (arguments.report_only) {
      std::cout << nmt::write_report(*arguments.report_only).string() << "\n";
      return nmt::kDone;
    }
    if (!arguments.compare.empty()) {
      std::cout << nmt::write_comparison(arguments.compare.front(), arguments.compare.back()).string() << "\n";
      return nmt::kDone;
    }
    if (arguments.config.empty()) throw nmt::Error("--config is required; see nmt-train --help");
    return arguments.seeds.empty() ? nmt::train(arguments) : nmt::train_seeds(arguments);
  });
}
