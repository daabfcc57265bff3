#include "report/tensorboard_observer.h"

namespace nmt {
namespace {

TextTable sample_table(const std::vector<TranslationSample>& samples) {
  TextTable table = {{"source", "reference", "hypothesis"}};
  for (const auto& sample : samples) {
    table.push_back(
        {escape_markdown(sample.source), escape_markdown(sample.reference), escape_markdown(sample.hypothesis)});
  }
  return table;
}

}  // namespace

TensorBoardWriter& TensorBoardObserver::writer() {
  if (!writer_) writer_.emplace(directory_);
  return *writer_;
}

void TensorBoardObserver::on_start(const TrainingStart& start) {
  truncate_event_files_after(directory_, start.update);
  if (start.update > 0) writer().write_session_start(start.update + 1);
}

void TensorBoardObserver::on_interval(const TrainingInterval& interval) {
  const ScalarSummary scalars[] = {{"train/loss", interval.loss},
                                   {"train/perplexity", interval.perplexity},
                                   {"train/accuracy", interval.accuracy},
                                   {"train/learning_rate", interval.learning_rate},
                                   {"train/gradient_norm", interval.gradient_norm},
                                   {"train/source_tokens_per_second", interval.source_tokens_per_second},
                                   {"train/target_tokens_per_second", interval.target_tokens_per_second},
                                   {"train/real_token_share", interval.real_token_share}};
  writer().write_scalars(interval.update, scalars);
}

void TensorBoardObserver::on_epoch(int64_t /*epoch*/, int64_t update, double loss) {
  const ScalarSummary scalars[] = {{"epoch/loss", loss}};
  writer().write_scalars(update, scalars);
}

void TensorBoardObserver::on_validation(const ValidationReport& report) {
  const std::string prefix = report.weights.empty() ? "valid/" : "average/";
  std::vector<ScalarSummary> scalars = {{prefix + "loss", report.loss},
                                        {prefix + "perplexity", report.perplexity},
                                        {prefix + "accuracy", report.accuracy}};
  if (report.has_bleu) scalars.push_back({prefix + "bleu", report.bleu});
  if (report.has_chrf) scalars.push_back({prefix + "chrf", report.chrf});
  writer().write_scalars(report.update, scalars);
  if (!report.samples.empty()) {
    writer().write_text_table(report.update, prefix + "samples", sample_table(report.samples));
  }
}

}  // namespace nmt
