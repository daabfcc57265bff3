#include "training/original_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/files/file.h"
#include "config/json.h"
#include "evaluation/original_results.h"
#include "report/console_observer.h"
#include "training/checkpoints/checkpoint.h"

namespace fs = std::filesystem;

namespace nmt {
namespace {

// What all of them share: epochs whose models get a name.
class EpochNames : public TrainingObserver {
 public:
  explicit EpochNames(fs::path run) : run_(std::move(run)) {}
  void on_start(const TrainingStart& start) override { epoch_ = start.epoch_end; }
  void on_epoch(const EpochReport& report) override { epoch_ = report; }
  void on_checkpoint(int64_t update) override {
    if (epoch_ && epoch_->update == update) keep_model(*epoch_);
  }

 protected:
  /// Called when the checkpoint of the epoch's last update stands there.
  virtual void keep_model(const EpochReport& epoch) = 0;

  /// The model files of a checkpoint under another name.
  void link_model(int64_t update, const std::string& name) const {
    const fs::path checkpoint = run_ / "checkpoints" / fmt::format("{:08d}", update);
    write_directory(run_ / name, [&](const fs::path& folder) {
      for (const auto& entry : fs::directory_iterator(checkpoint)) {
        const auto file = entry.path().filename();
        if (file == "trainer.safetensors" || file == "state.json" || file == "checksums.json") continue;
        std::error_code no_links_there;
        fs::create_hard_link(entry.path(), folder / file, no_links_there);
        if (no_links_there) fs::copy_file(entry.path(), folder / file);
      }
    });
  }
  /// Whether a validation is that of the model at the end of an epoch.
  bool is_of_epoch(const ValidationReport& report) const {
    return epoch_ && epoch_->update == report.update && report.weights.empty();
  }

  fs::path run_;
  std::optional<EpochReport> epoch_;  ///< the last one that ended
};

// Options under the names of his program. docs/kyubyong.md has the table.
nlohmann::ordered_json kyubyong_options(const Config& config) {
  const auto all = to_json(config);
  nlohmann::ordered_json options;
  for (const char* name : {"vocab_size", "train1", "train2", "eval1", "eval2"}) options[name] = all["data"][name];
  options["eval3"] = all["data"]["eval2"];
  for (const char* name : {"batch_size", "lr", "warmup_steps", "num_epochs", "smoothing"})
    options[name] = all["training"][name];
  options["logdir"] = all["run"]["dir"];
  options["evaldir"] = config.run.dir + "/eval";
  for (const char* name : {"d_model", "d_ff", "num_blocks", "num_heads", "dropout_rate"})
    options[name] = all["model"][name];
  for (const char* name : {"maxlen1", "maxlen2", "test1", "test2"}) options[name] = all["data"][name];
  options["test_batch_size"] = all["decoding"]["batch_size"];
  options["testdir"] = config.run.dir + "/test";
  options["toolkit"] = all;
  return options;
}

int64_t elements(const VariableShape& variable) {
  int64_t count = 1;
  for (const int64_t size : variable.sizes) count *= size;
  return count;
}

// As Python writes a tuple: () (512,) (32000, 512).
std::string tuple(const std::vector<int64_t>& sizes) {
  return fmt::format("({}{})", fmt::join(sizes, ", "), sizes.size() == 1 ? "," : "");
}

class Kyubyong2019 final : public EpochNames {
 public:
  Kyubyong2019(const Config& config, fs::path run) : EpochNames(std::move(run)), config_(config) {}

  void on_start(const TrainingStart& start) override {
    EpochNames::on_start(start);
    write_file_atomically(run_ / "hparams", kyubyong_options(config_).dump() + "\n");
    int64_t total = 0;
    std::string lines;
    for (const auto& variable : start.variables) {
      total += elements(variable);
      lines += fmt::format("\n{}==={}", variable.name, tuple(variable.sizes));
    }
    write_file_atomically(run_ / "specs", fmt::format("num_params: {}", total) + lines);
  }

  void on_validation(const ValidationReport& report) override {
    if (!is_of_epoch(report) || report.hypotheses.empty()) return;
    fs::create_directories(run_ / "eval");
    write_kyubyong2019_results(run_ / "eval", name(), {report.sources, report.references, report.hypotheses});
  }

 private:
  std::string name() const { return epoch_name("iwslt2016", *epoch_); }
  void keep_model(const EpochReport& epoch) override {
    link_model(epoch.update, fmt::format("{}-{}", name(), epoch.update));
  }
  const Config config_;
};

class Kyubyong2017 final : public EpochNames {
 public:
  using EpochNames::EpochNames;

 private:
  void keep_model(const EpochReport& epoch) override {
    link_model(epoch.update, fmt::format("model_epoch_{:02d}_gs_{}", epoch.epoch, epoch.update));
  }
};

class Trevett final : public EpochNames {
 public:
  Trevett(fs::path run, Logger& log) : EpochNames(std::move(run)), log_(log) {}

  void on_start(const TrainingStart& start) override {
    EpochNames::on_start(start);
    epoch_start_ = Clock::now();
  }
  void on_validation(const ValidationReport& report) override {
    if (!is_of_epoch(report)) return;
    const auto now = Clock::now();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - epoch_start_).count();
    epoch_start_ = now;
    log_.info("Epoch: {:02} | Time: {}m {}s", epoch_->epoch, seconds / 60, seconds % 60);
    log_.info("\tTrain Loss: {:.3f} | Train PPL: {:7.3f}", epoch_->loss, epoch_->perplexity);
    log_.info("\t Val. Loss: {:.3f} |  Val. PPL: {:7.3f}", report.loss, report.perplexity);
    if (report.is_best) best_update_ = report.update;
  }

 private:
  using Clock = std::chrono::steady_clock;
  void keep_model(const EpochReport& epoch) override {
    if (best_update_ == epoch.update) link_model(epoch.update, fmt::format("model-{}", epoch.epoch - 1));
  }
  Logger& log_;
  Clock::time_point epoch_start_;
  int64_t best_update_ = -1;
};

}  // namespace

std::unique_ptr<TrainingObserver> make_original_names(const Config& config, const fs::path& run, Logger& log) {
  switch (config.run.naming) {
    case RunNaming::kPlain:
      return nullptr;
    case RunNaming::kKyubyong2019:
      return std::make_unique<Kyubyong2019>(config, run);
    case RunNaming::kKyubyong2017:
      return std::make_unique<Kyubyong2017>(run);
    case RunNaming::kTrevett:
      return std::make_unique<Trevett>(run, log);
  }
  return nullptr;
}

}  // namespace nmt
