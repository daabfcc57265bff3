#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "search/ready_model.h"
#include "translation/translator.h"

namespace nmt {

/// Which models translate together, and what a user says about it.
struct ModelSetOptions {
  std::vector<std::filesystem::path> directories;
  std::vector<double> weights = {};             ///< of the models' votes; empty: all the same
  std::string device = "auto";                  ///< auto, cpu, cuda or cuda:N
  std::optional<DecodingConfig> decoding = {};  ///< in place of the first model's own
  std::optional<int64_t> max_source_length = {};
  /// What the user changes of a model's configuration; none: nothing.
  std::function<Config(const Config&)> changed = {};
  int threads = 0;  ///< on the CPU; 0: all processors. A program that is linked with LibTorch tells LibTorch itself
  std::filesystem::path adapter = {};  ///< adapter.safetensors of the one model, added to its weights; empty: none
  bool is_guest = false;               ///< of ModelLoading
};

/// Models that are loaded and ready to search: an ensemble, or a single one.
class ModelSet {
 public:
  /// Throws Error for a directory that is no model, an adapter of another, models of other target pieces, a device that
  /// is not there, and a max_source_length that the first model has no positions for.
  explicit ModelSet(const ModelSetOptions& options);
  ModelSet(const ModelSet&) = delete;

  const std::vector<ReadyModel>& loaded() const { return loaded_; }
  const ReadyModel& first() const { return loaded_.front(); }
  /// For a Translator, which borrows the models: the set must outlive it.
  const std::vector<TranslatorModel>& members() const { return members_; }
  /// Whether it was trained on sentences: what holds several is split into them.
  bool is_of_sentences() const { return first().config.data.lines == TrainedLines::kSentences; }
  /// For a reader: of each model its directory, the SHA-256 of its weights and of its adapter, its vote, and in which
  /// precision it is searched.
  nlohmann::json description() const;
  /// What the first model's configuration and the user say.
  const TranslatorOptions& options() const { return translator_options_; }

 private:
  std::vector<ReadyModel> loaded_;
  std::vector<TranslatorModel> members_;
  TranslatorOptions translator_options_;
  std::filesystem::path adapter_;
};

}  // namespace nmt
