#include <ATen/Parallel.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "base/app.h"
#include "base/log.h"
#include "base/signals.h"
#include "base/threads.h"
#include "config/schema.h"
#include "data/prepared_data.h"
#include "nn/device.h"
#include "training/trainer.h"

namespace {

using namespace nmt;

class LogObserver final : public TrainingObserver {
 public:
  explicit LogObserver(Logger& log) : log_(log) {}
  void on_start(const TrainingStart& s) override {
    log_.info("{} parameters, {} {}, {} threads, {} updates an epoch", s.parameters, s.device, s.precision, s.threads, s.updates_per_epoch);
  }
  void on_interval(const TrainingInterval& i) override {
    log_.info("epoch {} update {} loss {:.3f} ppl {:.2f} acc {:.3f} lr {:.2e} gnorm {:.2f} src/s {:.0f} tgt/s {:.0f} real {:.1f}% left {:.0f}s",
              i.epoch, i.update, i.loss, i.perplexity, i.accuracy, i.learning_rate, i.gradient_norm, i.source_tokens_per_second,
              i.target_tokens_per_second, 100 * i.real_token_share, i.seconds_left);
  }
  void on_validation(const ValidationReport& v) override {
    log_.info("validation{}: loss {:.3f} ppl {:.2f} acc {:.3f} {} {} ({:.1f}s)", v.is_best ? " *" : "", v.loss, v.perplexity,
              v.accuracy, v.bleu_line, v.chrf_line, v.seconds);
    for (const auto& s : v.samples) log_.info("  {}\n  {}\n  {}", s.source, s.reference, s.hypothesis);
  }
  void on_end(const std::string& reason) override { log_.info("end: {}", reason); }

 private:
  Logger& log_;
};

}  // namespace

int main(int argc, char** argv) {
  return run_app("nmt-train", [&]() -> int {
    CLI::App app{"Trains a model"};
    std::string config_file, run_dir, device, precision;
    std::vector<std::string> settings;
    bool restart = false;
    app.add_option("-c,--config", config_file)->required();
    app.add_option("--set", settings);
    app.add_option("--run-dir", run_dir);
    app.add_option("--device", device);
    app.add_option("--precision", precision);
    app.add_flag("--restart", restart);
    CLI11_PARSE(app, argc, argv);
    if (!run_dir.empty()) settings.push_back("run.dir=" + run_dir);
    if (!device.empty()) settings.push_back("run.device=" + device);
    if (!precision.empty()) settings.push_back("run.precision=" + precision);
    keep_freed_memory();
    catch_stop_signals();
    auto log = make_logger("nmt-train");
    const auto loaded = load_config(config_file, settings);
    for (const auto& notice : loaded.notices) log->info("{}", notice);
    at::set_num_threads(static_cast<int>(loaded.config.run.threads > 0 ? loaded.config.run.threads : default_threads()));
    const auto data = open_prepared_data(loaded.config);
    RunDirectory directory(loaded.config, restart ? RunDirectory::Start::kRestart : RunDirectory::Start::kResume, *log);
    add_log_file(*log, directory.path() / "log.txt");
    LogObserver observer(*log);
    return Trainer(loaded.config, data, directory, observer, *log).run();
  });
}
