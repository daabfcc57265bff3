#include "search/plain_step.h"

#include <spdlog/spdlog.h>

#include <optional>
#include <utility>
#include <vector>

#include "nn/device/cpu_kernels.h"
#include "nn/inference/plain_transformer.h"
#include "search/batch_candidates.h"
#include "search/step_scores.h"

namespace nmt {

namespace {

class PlainStep final : public DecodingStep {
 public:
  PlainStep(inference::TransformerDecoder decoder, std::span<const SearchInput* const> sentences,
            const SearchOptions& options, const LogitsRules& rules)
      : decoder_(std::move(decoder)), options_(options), rules_(rules) {
    if (sentences.front()->candidates.empty()) return;
    candidates_.emplace(sentences);
    decoder_.restrict_outputs(candidates_->tokens());
  }

  int64_t rows() const override { return decoder_.rows(); }

  void feed(const StepInput& input) override {
    if (!stays(input.ancestors, rows())) {
      decoder_.select(input.ancestors);
      if (candidates_) candidates_->select(input.ancestors);
    }
    decoder_.feed(input.tokens);
  }

  StepScores scores(const StepQuery& query) override {
    const auto logits = decoder_.logits(query.token);
    const int64_t width = decoder_.outputs();
    if (!candidates_) return judge({logits, width}, query, {});
    return candidates_->scores(query, [&](const BatchCandidates::Run& run, const StepQuery& own_query) {
      const auto& [tokens, columns] = candidates_->sentences()[run.sentence];
      auto own = columns_of(logits.subspan(run.first_row * width, run.rows * width), width, columns);
      return judge({own, std::ssize(columns)}, own_query, tokens);
    });
  }

  void join(std::unique_ptr<DecodingStep> other) override {
    decoder_.join(std::move(dynamic_cast<PlainStep&>(*other).decoder_));
  }

 private:
  StepScores judge(PlainLogits logits, StepQuery query, std::span<const int32_t> columns) const {
    if (!query.rules.empty()) rules_.change(logits, LogitsRules::Of::kModel, query.rules, columns);
    if (columns.empty()) return step_scores(logits, query, options_);
    const auto rules = in_places(query.rules, columns);
    query.rules = rules;
    return step_scores(logits, query, options_);
  }

  inference::TransformerDecoder decoder_;
  const SearchOptions& options_;
  const LogitsRules& rules_;
  std::optional<BatchCandidates> candidates_;
};

}  // namespace

PlainModel::PlainModel(const SearchModel& model, std::shared_ptr<const inference::TransformerWeights> weights)
    : model_(model), weights_(std::move(weights)), work_(std::make_unique<inference::Workspace>()) {}

PlainModel::~PlainModel() = default;

std::unique_ptr<DecodingStep> PlainModel::start(std::span<const SearchInput* const> sentences,
                                                const SearchOptions& options, const LogitsRules& rules) {
  std::vector<int64_t> ids, lengths;
  for (const auto* sentence : sentences) {
    const auto& source = sentence->sources.at(0);
    lengths.push_back(source_length(std::ssize(source), model_.source_form.markers));
    ids.resize(ids.size() + lengths.back());
    write_source(source, model_.source_form, ids.data() + ids.size() - lengths.back());
  }
  work_->threads = may_share() ? &step_threads() : nullptr;
  return std::make_unique<PlainStep>(inference::TransformerDecoder(weights_, ids, lengths, *work_), sentences, options,
                                     rules);
}

void PlainModel::add_attention(std::span<const SearchInput* const> sentences, const SearchOptions& options,
                               std::vector<std::vector<Hypothesis>>& results) {
  TorchModels(std::span(&model_, 1)).add_attention(sentences, options, results);
}

std::shared_ptr<const inference::TransformerWeights> plain_weights(std::span<const SearchModel> models) {
  std::string reason = "an ensemble";
  if (models.size() == 1) {
    try {
      return models.front().model->inference_weights();
    } catch (const inference::Unsupported& part) {
      reason = part.what();
    }
  }
  spdlog::debug("searches by LibTorch: {}", reason);
  return nullptr;
}

std::unique_ptr<DecodingModel> make_decoding_model(std::span<const SearchModel> models,
                                                   std::shared_ptr<const inference::TransformerWeights> plain) {
  if (plain) return std::make_unique<PlainModel>(models.front(), std::move(plain));
  return std::make_unique<TorchModels>(models);
}

}  // namespace nmt
