#include "training/original_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files/file.h"
#include "base/folders/output_folder.h"
#include "config/json.h"
#include "evaluation/original_results.h"
#include "training/checkpoints/checkpoint.h"

namespace fs = std::filesystem;

namespace nmt {
namespace {

// What all of them share: the model files of a checkpoint under another name.
class ModelNames : public TrainingObserver {
 public:
  ModelNames(fs::path run, Logger& log) : run_(std::move(run)), log_(log) {}

 protected:
  fs::path checkpoint_of(int64_t update) const { return run_ / "checkpoints" / fmt::format("{:08d}", update); }

  void link_model(int64_t update, const std::string& name) const {
    const auto kept = write_directory(run_ / name, [&](const fs::path& folder) {
      for (const auto& entry : fs::directory_iterator(checkpoint_of(update))) {
        const auto file = entry.path().filename();
        if (file == "trainer.safetensors" || file == "state.json" || file == "checksums.json") continue;
        std::error_code no_links_there;
        fs::create_hard_link(entry.path(), folder / file, no_links_there);
        if (no_links_there) fs::copy_file(entry.path(), folder / file);
      }
    });
    warn_of_kept(kept, log_);
  }

  fs::path run_;
  Logger& log_;
};

// Epochs whose models get a name.
class EpochNames : public ModelNames {
 public:
  using ModelNames::ModelNames;
  void on_start(const TrainingStart& start) override { epoch_ = start.epoch_end; }
  void on_epoch(const EpochReport& report) override { epoch_ = report; }
  void on_checkpoint(int64_t update) override {
    if (epoch_ && epoch_->update == update) keep_model(*epoch_);
  }

 protected:
  /// Called when the checkpoint of the epoch's last update stands there.
  virtual void keep_model(const EpochReport& epoch) = 0;

  /// Whether a validation is that of the model at the end of an epoch.
  bool is_of_epoch(const ValidationReport& report) const {
    return epoch_ && epoch_->update == report.update && report.weights.empty();
  }

  std::optional<EpochReport> epoch_;  ///< the last one that ended
};

// The vocabulary for a reader: his own file, or the toolkit's.
std::string vocabulary_file(const DataConfig& data) {
  if (data.naming == DataNaming::kKyubyong2019) return data.dir + "/segmented/bpe.vocab";
  if (data.tokenizer == TokenizerKind::kSentencePiece)
    return data.dir + (data.joint_vocabulary ? "/spm.vocab" : "/source.vocab");
  return data.dir + (data.joint_vocabulary ? "/joint.vocab" : "/" + data.source_language + ".vocab");
}

fs::path folder_of_translations(const Config& config) {
  return config.run.evaldir.empty() ? fs::path(config.run.dir) / "eval" : fs::path(config.run.evaldir);
}

// Options under the names of his program. docs/kyubyong.md has the table.
nlohmann::ordered_json kyubyong_options(const Config& config) {
  const auto all = to_json(config);
  nlohmann::ordered_json options;
  for (const char* name : {"vocab_size", "train1", "train2", "eval1", "eval2"}) options[name] = all["data"][name];
  options["eval3"] = all["data"]["eval2"];
  options["vocab"] = vocabulary_file(config.data);
  for (const char* name : {"batch_size", "lr", "warmup_steps", "num_epochs", "smoothing"})
    options[name] = all["training"][name];
  options["logdir"] = all["run"]["dir"];
  options["evaldir"] = folder_of_translations(config).string();
  for (const char* name : {"d_model", "d_ff", "num_blocks", "num_heads", "dropout_rate"})
    options[name] = all["model"][name];
  for (const char* name : {"maxlen1", "maxlen2", "test1", "test2"}) options[name] = all["data"][name];
  options["ckpt"] = nullptr;
  for (const char* name : {"eval_batch_size", "test_batch_size"}) options[name] = all["decoding"]["batch_size"];
  options["testdir"] = config.run.testdir.empty() ? config.run.dir + "/test" : config.run.testdir;
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
  Kyubyong2019(const Config& config, fs::path run, Logger& log) : EpochNames(std::move(run), log), config_(config) {}

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
    const auto folder = folder_of_translations(config_);
    fs::create_directories(folder);
    write_kyubyong2019_results(folder, name(), {report.sources, report.references, report.hypotheses});
  }

 private:
  /// "iwslt2016_E02L2.64". The loss is that of one further batch where it was measured, as in his program.
  std::string name() const {
    return fmt::format("iwslt2016_E{:02}L{:.2f}", epoch_->epoch, epoch_->next_batch_loss.value_or(epoch_->loss));
  }
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
  using EpochNames::EpochNames;

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
    const double validation = report.batch_loss.value_or(report.loss);
    log_.info("\tTrain Loss: {:.3f} | Train PPL: {:7.3f}", epoch_->batch_loss, std::exp(epoch_->batch_loss));
    log_.info("\t Val. Loss: {:.3f} |  Val. PPL: {:7.3f}", validation, std::exp(validation));
    if (report.is_best) best_update_ = report.update;
  }

 private:
  using Clock = std::chrono::steady_clock;
  void keep_model(const EpochReport& epoch) override {
    if (best_update_ == epoch.update) link_model(epoch.update, fmt::format("model-{}.pt", epoch.epoch - 1));
  }
  Clock::time_point epoch_start_;
  int64_t best_update_ = -1;
};

class Prenorm final : public ModelNames {
 public:
  Prenorm(fs::path run, int64_t log_every, Logger& log) : ModelNames(std::move(run), log), log_every_(log_every) {}

  void on_interval(const TrainingInterval& interval) override {
    if (interval.update % log_every_ != 0) return;  // the end of an epoch
    log_.info("{}: loss: {},\t acc: {}", interval.update, interval.last_loss, interval.last_accuracy);
  }
  void on_checkpoint(int64_t update) override {
    link_model(update, fmt::format("{}{}", kName, update));
    remove_those_without_checkpoint();
  }

 private:
  static constexpr std::string_view kName = "model.ckpt-";

  void remove_those_without_checkpoint() const {
    std::vector<fs::path> old;
    for (const auto& entry : fs::directory_iterator(run_))
      if (const auto update = update_of(entry.path().filename().string());
          update && !fs::exists(checkpoint_of(*update)))
        old.push_back(entry.path());
    for (const auto& folder : old) warn_of_kept(remove_folder(folder, files_of_directory), log_);
  }
  static std::optional<int64_t> update_of(const std::string& name) {
    int64_t update = 0;
    if (!name.starts_with(kName)) return std::nullopt;
    const char* begin = name.data() + kName.size();
    const auto [end, error] = std::from_chars(begin, name.data() + name.size(), update);
    if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
    return update;
  }
  int64_t log_every_;
};

}  // namespace

std::unique_ptr<TrainingObserver> make_original_names(const Config& config, const fs::path& run, Logger& log) {
  switch (config.run.naming) {
    case RunNaming::kPlain:
      return nullptr;
    case RunNaming::kKyubyong2019:
      return std::make_unique<Kyubyong2019>(config, run, log);
    case RunNaming::kKyubyong2017:
      return std::make_unique<Kyubyong2017>(run, log);
    case RunNaming::kTrevett:
      return std::make_unique<Trevett>(run, log);
    case RunNaming::kPrenorm:
      return std::make_unique<Prenorm>(run, config.run.log_every, log);
  }
  return nullptr;
}

}  // namespace nmt
