#include "compat/training/run_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/files/file.h"
#include "compat/result_files.h"
#include "config/option_listing.h"
#include "training/checkpoints/checkpoint.h"

namespace fs = std::filesystem;

namespace nmt::compat {
namespace {

// Models get their names with the checkpoint of an epoch's last update.
class EpochNames : public TrainingObserver {
 public:
  explicit EpochNames(fs::path run) : run_(std::move(run)) {}
  bool needs_epoch_checkpoints() const override { return true; }
  void on_start(const TrainingStart& start) override { epoch_ = start.epoch_end; }
  void on_epoch(const EpochReport& report) override { epoch_ = report; }
  void on_checkpoint(int64_t update) override {
    if (epoch_ && epoch_->update == update) link_model(*epoch_);
  }

 protected:
  virtual std::string model_name(const EpochReport& epoch) const = 0;

  const fs::path run_;
  std::optional<EpochReport> epoch_;  // the last one that ended

 private:
  void link_model(const EpochReport& epoch) const {
    const auto checkpoint = run_ / "checkpoints" / fmt::format("{:08d}", epoch.update);
    // A folder of that name which holds anything else is kept beside it.
    std::ignore = write_directory(run_ / model_name(epoch), [&](const fs::path& folder) {
      for (const auto& entry : fs::directory_iterator(checkpoint)) {
        const auto file = entry.path().filename();
        if (file == "trainer.safetensors" || file == "state.json" || file == "checksums.json") continue;
        std::error_code no_links_there;
        fs::create_hard_link(entry.path(), folder / file, no_links_there);
        if (no_links_there) fs::copy_file(entry.path(), folder / file);
      }
    });
  }
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

// A tuple as Python writes it: () (512,) (32000, 512).
std::string tuple(const std::vector<int64_t>& sizes) {
  return fmt::format("({}{})", fmt::join(sizes, ", "), sizes.size() == 1 ? "," : "");
}

class Kyubyong2019 final : public EpochNames {
 public:
  explicit Kyubyong2019(const Config& config) : EpochNames(config.run.dir), config_(config) {}

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
    const bool is_of_epoch = epoch_ && epoch_->update == report.update && report.weights.empty();
    if (!is_of_epoch || report.hypotheses.empty()) return;
    const auto folder = folder_of_translations(config_);
    fs::create_directories(folder);
    write_kyubyong2019_results(folder, name_of(*epoch_), {report.sources, report.references, report.hypotheses});
  }

 private:
  static std::string name_of(const EpochReport& epoch) {
    return fmt::format("iwslt2016_E{:02}L{:.2f}", epoch.epoch, epoch.loss);
  }
  std::string model_name(const EpochReport& epoch) const override {
    return fmt::format("{}-{}", name_of(epoch), epoch.update);
  }
  const Config config_;
};

class Kyubyong2017 final : public EpochNames {
 public:
  using EpochNames::EpochNames;

 private:
  std::string model_name(const EpochReport& epoch) const override {
    return fmt::format("model_epoch_{:02d}_gs_{}", epoch.epoch, epoch.update);
  }
};

}  // namespace

std::unique_ptr<TrainingObserver> make_run_names(const Config& config) {
  switch (config.run.naming) {
    case RunNaming::kPlain:
      return nullptr;
    case RunNaming::kKyubyong2019:
      return std::make_unique<Kyubyong2019>(config);
    case RunNaming::kKyubyong2017:
      return std::make_unique<Kyubyong2017>(config.run.dir);
  }
  return nullptr;
}

}  // namespace nmt::compat
