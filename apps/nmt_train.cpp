// nmt-train: trains a model on prepared data; started again on the same run directory it goes on where it stopped.
#include <ATen/Parallel.h>
#include <torch/version.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/process/app.h"
#include "base/process/log.h"
#include "base/process/signals.h"
#include "command_line.h"
#include "config/loading/schema.h"
#include "data/prepared_data.h"
#include "nn/device/cpu_allocator.h"
#include "nn/device/device.h"
#include "nn/device/device_capabilities.h"
#include "nn/kernels/kernels.h"
#include "report/html/html_report.h"
#include "report/run_observers.h"
#include "training/distributed/launched_process.h"
#include "training/distributed/make_process_group.h"
#include "training/distributed/process_group.h"
#include "training/original_names.h"
#include "training/trainer.h"
#include "training/update_profiler.h"

namespace nmt {
namespace {

struct Arguments {
  std::string config;
  std::vector<std::string> settings;
  std::optional<std::string> run_dir, device, precision;
  std::optional<int64_t> profile;
  std::optional<std::string> report_only;
  bool restart = false, print_config = false;

  void add_to(CLI::App& app) {
    app.set_version_flag("--version", program_version("nmt-train", fmt::format("LibTorch {}\n", TORCH_VERSION)));
    app.get_formatter()->column_width(36);
    app.add_option("-c,--config", config, "configuration file (YAML)")->type_name("CONFIG");
    app.add_option("--set", settings, "sets one option, over the file; as often as wanted")
        ->type_name("SECTION.KEY=VALUE")
        ->allow_extra_args(false);
    app.add_option("--run-dir", run_dir, "run directory: run.dir of the configuration")->type_name("DIR");
    app.add_option("--device", device, "auto, cpu, cuda or cuda:N: run.device")->type_name("DEVICE");
    app.add_option("--precision", precision, "auto, fp32, bf16 or fp16: run.precision")->type_name("PRECISION");
    app.add_option("--profile", profile,
                   "traces N updates after the first ten: profile.json in the run directory, for chrome://tracing and "
                   "ui.perfetto.dev, and the ten most expensive operations in the log")
        ->type_name("N")
        ->check(CLI::PositiveNumber);
    app.add_option(
           "--report-only", report_only,
           "writes DIR/report.html of a run that has ended or goes on, from the files in its directory DIR, and "
           "ends; needs no CONFIG")
        ->type_name("DIR");
    app.add_flag("--restart", restart, "starts again; an old run is renamed to NAME.old-N");
    app.add_flag("--print-config", print_config, "prints the complete effective configuration and ends");
  }

  /// --run-dir and its like are other names of options.
  std::vector<std::string> all_settings() const {
    auto all = settings;
    if (run_dir) all.push_back("run.dir=" + *run_dir);
    if (device) all.push_back("run.device=" + *device);
    if (precision) all.push_back("run.precision=" + *precision);
    return all;
  }
};

Facts environment(const ProcessGroup& group) {
  return {{"toolkit", version()},
          {"processes", std::to_string(group.size())},
          {"LibTorch", TORCH_VERSION},
          {"SentencePiece", NMT_SENTENCEPIECE_VERSION},
          {"processor", cpu_name()},
          {"instruction sets", cpu_features()},
          {"kernels", kernels::kernels().name}};
}

LaunchedProcess this_process() {
  return launched_process([](const char* name) -> const char* { return std::getenv(name); });
}

/// Of several processes all but the first say which they are.
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

void check_that_all_are_alike(ProcessGroup& group, const Config& config, const PreparedData& data,
                              torch::Device device) {
  const auto own = fmt::format("{}\n{}\n{}", to_yaml(config, YamlComments::kNone), data.hash,
                               precision_name(resolve_precision(config.run.precision, device)));
  if (group.share(own) == own) return;
  throw Error(
      fmt::format("rank {} has other options, other prepared data or another precision than rank 0: start all "
                  "processes with the same command, on a file system that all of them see (run.precision says auto "
                  "where machines differ)",
                  group.rank()));
}

int train(const Arguments& arguments) {
  const LoadedConfig loaded = load_config(arguments.config, arguments.all_settings());
  const Config& config = loaded.config;
  const auto process = this_process();
  if (arguments.print_config) {
    if (process.rank == 0) std::cout << to_yaml(config, YamlComments::kHelp);
    return kDone;
  }
  catch_stop_signals();
  const auto log = make_logger("nmt-train");
  if (process.rank > 0) log->set_level(spdlog::level::err);
  for (const auto& notice : loaded.notices) log->info("{}", notice);
  const auto device = device_of(process, config.run.device);
  const auto group = make_process_group(process, device, config, end_without);
  at::set_num_threads(config.run.threads > 0 ? static_cast<int>(config.run.threads) : default_threads_of(*group));
  const PreparedData data = open_prepared_data(config);
  if (group->size() > 1) {
    check_that_all_are_alike(*group, config, data, device);
    log->info("{} processes of {}, {} threads each", group->size(), process.launcher, at::get_num_threads());
  }
  const auto embeddings = read_initial_embeddings(config.model, data.codec, *log);
  TrainingObservers observers;
  if (!group->leads()) return Trainer(config, data, embeddings, device, *group, nullptr, observers, *log).run();

  RunDirectory directory(config, arguments.restart ? RunDirectory::Start::kRestart : RunDirectory::Start::kResume,
                         *log);
  add_log_file(*log, directory.path() / "log.txt");
  if (config.run.precision == TrainingPrecision::kBf16 && !capabilities_of(device).bfloat16)
    log->warn(
        "run.precision: bf16: this processor has no instructions for it, fp32 trains faster; auto takes what fits");
  observers.add(make_run_observers(
      {.directory = directory.path(),
       .tensorboard = config.run.tensorboard,
       .tensorboard_tags = config.run.tensorboard_tags,
       .tensorboard_curves = config.run.tensorboard_every > 0 ? CurveIntervals::kOwn : CurveIntervals::kOfLog,
       .environment = environment(*group)},
      *log));
  if (auto names = make_original_names(config, directory.path(), *log)) observers.add(std::move(names));
  if (arguments.profile)
    observers.add(std::make_unique<UpdateProfiler>(*arguments.profile, directory.path() / "profile.json", *log));
  return Trainer(config, data, embeddings, device, *group, &directory, observers, *log).run();
}

}  // namespace
}  // namespace nmt

int main(int argc, char** argv) {
  return nmt::run_app(nmt::program_name(), [&]() -> int {
    nmt::reuse_freed_tensors();
    CLI::App app{
        "Trains a model on prepared data. Started again on the same run directory it goes on exactly where it stopped.",
        "nmt-train"};
    nmt::Arguments arguments;
    arguments.add_to(app);
    if (!nmt::parse_command_line(app, argc, argv)) return nmt::kDone;
    if (arguments.report_only) {
      std::cout << nmt::write_report(*arguments.report_only).string() << "\n";
      return nmt::kDone;
    }
    if (arguments.config.empty()) throw nmt::Error("--config is required; see nmt-train --help");
    return nmt::train(arguments);
  });
}
