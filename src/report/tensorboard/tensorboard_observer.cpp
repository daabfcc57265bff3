#include "report/tensorboard/tensorboard_observer.h"

#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "report/pictures/attention_picture.h"
#include "report/records/run_records.h"
#include "report/tensorboard/tensorboard_event.h"

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

// A curve's name under other tags, where the original program has it.
std::string tag_of(TensorBoardTags tags, const std::string& plain) {
  static const std::map<TensorBoardTags, std::map<std::string, std::string>> names = {
      {TensorBoardTags::kKyubyong2019, {{"train/loss", "loss"}, {"train/learning_rate", "lr"}}},
      {TensorBoardTags::kKyubyong2017, {{"train/loss", "mean_loss"}, {"train/accuracy", "acc"}}},
      {TensorBoardTags::kPrenorm, {{"train/accuracy", "train/acc"}}}};
  const auto of_tags = names.find(tags);
  if (of_tags == names.end()) return plain;
  const auto found = of_tags->second.find(plain);
  return found == of_tags->second.end() ? plain : found->second;
}

std::vector<ScalarSummary> figures_of(const ValidationReport& report, const std::string& prefix) {
  std::vector<ScalarSummary> scalars = {{prefix + "loss", report.loss},
                                        {prefix + "perplexity", report.perplexity},
                                        {prefix + "accuracy", report.accuracy}};
  if (report.has_bleu) scalars.push_back({prefix + "bleu", report.bleu});
  if (report.has_chrf) scalars.push_back({prefix + "chrf", report.chrf});
  return scalars;
}

// Several averages may be validated at one update: no two of them write the same curve.
std::string prefix_of(const std::string& weights) {
  if (weights.empty()) return "valid/";
  const auto updates = averaged_updates(weights);
  return updates.empty() ? "average/" : fmt::format("average_checkpoints/{}/", updates);
}

constexpr int64_t kPictureCell = 8;  // pixels

}  // namespace

void TensorBoardObserver::write(std::string_view event) {
  if (!writer_) writer_.emplace(directory_);
  writer_->write(event);
}

void TensorBoardObserver::on_start(const TrainingStart& start) {
  truncate_event_files_after(directory_, start.update);
  if (start.update > 0) return write(encode_session_start(now_at(start.update + 1)));
  if (const auto weights = weights_of(start); !weights.empty())
    write(encode_graph(now_at(0), encode_model_graph(weights)));
}

std::vector<ScalarSummary> TensorBoardObserver::curves_of(const TrainingInterval& interval) const {
  std::vector<ScalarSummary> scalars = {{"train/loss", interval.loss},
                                        {"train/perplexity", interval.perplexity},
                                        {"train/accuracy", interval.accuracy},
                                        {"train/learning_rate", interval.learning_rate},
                                        {"train/gradient_norm", interval.gradient_norm},
                                        {"train/source_tokens_per_second", interval.source_tokens_per_second},
                                        {"train/target_tokens_per_second", interval.target_tokens_per_second},
                                        {"train/real_token_share", interval.real_token_share}};
  for (auto& scalar : scalars) scalar.tag = tag_of(tags_, scalar.tag);
  if (tags_ == TensorBoardTags::kKyubyong2019) scalars.push_back({"global_step", static_cast<double>(interval.update)});
  return scalars;
}

void TensorBoardObserver::on_curve_point(const TrainingInterval& interval) {
  write(encode_scalars(now_at(interval.update), curves_of(interval)));
}

void TensorBoardObserver::on_interval(const TrainingInterval& interval) {
  auto scalars = curves_ == CurveIntervals::kOfLog ? curves_of(interval) : std::vector<ScalarSummary>();
  for (const auto& norm : interval.norms) {
    scalars.push_back({"norm/weights/" + norm.group, norm.weights});
    scalars.push_back({"norm/gradients/" + norm.group, norm.gradients});
  }
  if (!scalars.empty()) write(encode_scalars(now_at(interval.update), scalars));
  for (const auto& histogram : interval.histograms) write(encode_histogram(now_at(interval.update), histogram));
}

void TensorBoardObserver::on_epoch(const EpochReport& report) {
  const ScalarSummary scalars[] = {{"epoch/loss", report.loss}, {"epoch/perplexity", report.perplexity}};
  write(encode_scalars(now_at(report.update), scalars));
}

void TensorBoardObserver::on_validation(const ValidationReport& report) {
  const std::string prefix = prefix_of(report.weights);
  write(encode_scalars(now_at(report.update), figures_of(report, prefix)));
  for (const auto& other : report.others)
    write(encode_scalars(now_at(report.update), figures_of(other, prefix + other.set + "/")));
  if (!report.samples.empty()) {
    write(encode_text_table(now_at(report.update), prefix + "samples", sample_table(report.samples)));
  }
  if (!report.weights.empty()) return;
  if (tags_ == TensorBoardTags::kKyubyong2019 && !report.hypotheses.empty()) {
    write(encode_text(now_at(report.update), "sent1", escape_markdown(report.source_pieces)));
    write(encode_text(now_at(report.update), "pred", escape_markdown(report.hypotheses[report.drawn])));
    write(encode_text(now_at(report.update), "sent2", escape_markdown(report.references[report.drawn])));
  }
  draw_attention(report);
}

void TensorBoardObserver::draw_attention(const ValidationReport& report) {
  const auto draw = [&](const std::string& tag, const Image& image) {
    write(encode_image(now_at(report.update), tag, image));
  };
  for (size_t sentence = 0; sentence < report.attention.size(); ++sentence) {
    for (const auto& grid : report.attention[sentence]) {
      if (tags_ == TensorBoardTags::kKyubyong2019) {
        if (sentence == 0)
          draw("attention/" + grid.name, attention_image(grid, 0, kPictureCell, AttentionAxes::kKeysDown));
        continue;
      }
      const auto tag = fmt::format("attention_{}/{}/", attention_line(report, sentence), grid.name);
      draw(tag + "mean", attention_image(mean_of_heads(grid), 0, kPictureCell, AttentionAxes::kKeysDown));
      draw(tag + "heads", heads_image(grid, kPictureCell, AttentionAxes::kKeysDown));
    }
  }
}

}  // namespace nmt
