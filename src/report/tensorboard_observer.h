#pragma once

#include <filesystem>
#include <optional>

#include "report/tensorboard_writer.h"
#include "report/training_observer.h"

namespace nmt {

/// Event files for TensorBoard, step = update:
///   train/loss perplexity accuracy learning_rate gradient_norm source_tokens_per_second target_tokens_per_second
///   real_token_share       each log interval
///   epoch/loss             each epoch
///   valid/loss perplexity accuracy bleu chrf, and the text samples (a table), each validation
/// Validations of other weights than those of the update have the prefix average/ in place of valid/.
/// A resumed run drops the events after its checkpoint.
class TensorBoardObserver final : public TrainingObserver {
 public:
  explicit TensorBoardObserver(std::filesystem::path directory) : directory_(std::move(directory)) {}

  void on_start(const TrainingStart& start) override;
  void on_interval(const TrainingInterval& interval) override;
  void on_epoch(int64_t epoch, int64_t update, double loss) override;
  void on_validation(const ValidationReport& report) override;

 private:
  TensorBoardWriter& writer();
  std::filesystem::path directory_;
  std::optional<TensorBoardWriter> writer_;
};

}  // namespace nmt
