#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "config/kinds.h"
#include "report/records/training_observer.h"
#include "report/tensorboard/tensorboard_writer.h"

namespace nmt {

/// Whose intervals the curves of training have: those of the log, or run.tensorboard_every.
enum class CurveIntervals { kOfLog, kOwn };

/// Event files for TensorBoard, step = update:
///   the graph of the model's weights, at the start (encode_model_graph)
///   train/loss perplexity accuracy learning_rate gradient_norm source_tokens_per_second target_tokens_per_second
///   real_token_share, norm/weights/GROUP, norm/gradients/GROUP, and the histograms, each log interval
///   epoch/loss perplexity  each epoch
///   valid/loss perplexity accuracy bleu chrf, the text samples (a table), and pictures of attention (keys down,
///   queries across), each validation: attention_N/LAYER/mean and attention_N/LAYER/heads of sentence N
/// With kKyubyong2019 the pictures are attention/LAYER, the first head for the first sentence.
/// With CurveIntervals::kOwn the scalars from train/loss to train/real_token_share are those of on_curve_point,
/// and the log intervals have norms and histograms alone.
/// In place of valid/ validations of the moving average have the prefix average/, those of a mean of checkpoints
/// average_checkpoints/of-3-from-7-to-49/ (averaged_updates).
/// A resumed run drops the events after its checkpoint.
class TensorBoardObserver final : public TrainingObserver {
 public:
  explicit TensorBoardObserver(std::filesystem::path directory, TensorBoardTags tags = TensorBoardTags::kPlain,
                               CurveIntervals curves = CurveIntervals::kOfLog)
      : directory_(std::move(directory)), tags_(tags), curves_(curves) {}

  void on_start(const TrainingStart& start) override;
  void on_interval(const TrainingInterval& interval) override;
  void on_curve_point(const TrainingInterval& interval) override;
  void on_epoch(const EpochReport& report) override;
  void on_validation(const ValidationReport& report) override;

 private:
  void write(std::string_view event);
  std::vector<ScalarSummary> curves_of(const TrainingInterval& interval) const;
  void draw_attention(const ValidationReport& report);
  std::filesystem::path directory_;
  TensorBoardTags tags_;
  CurveIntervals curves_;
  std::optional<TensorBoardWriter> writer_;
};

}  // namespace nmt
