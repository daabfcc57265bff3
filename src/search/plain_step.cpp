#include "search/plain_step.h"

#include <optional>
#include <utility>
#include <vector>

#include "nn/inference/plain_transformer.h"
#include "search/batch_candidates.h"
#include "search/step_scores.h"

namespace nmt {

namespace {

class PlainStep final : public DecodingStep {
 public:
  PlainStep(inference::TransformerDecoder decoder, ThreadPool* threads, std::span<const SearchInput* const> sentences,
            const SearchOptions& options, const LogitsRules& rules)
      : decoder_(std::move(decoder)), threads_(threads), options_(options), rules_(rules) {
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
    if (!candidates_) return judge({logits, width, threads_}, query, {});
    return candidates_->scores(query, [&](const BatchCandidates::Run& run, const StepQuery& own_query) {
      const auto& [tokens, columns] = candidates_->sentences()[run.sentence];
      auto own = columns_of(logits.subspan(run.first_row * width, run.rows * width), width, columns);
      return judge({own, std::ssize(columns), threads_}, own_query, tokens);
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
  ThreadPool* threads_;
  const SearchOptions& options_;
  const LogitsRules& rules_;
  std::optional<BatchCandidates> candidates_;
};

}  // namespace

PlainModel::PlainModel(const SourceForm& source_form, std::shared_ptr<const inference::TransformerWeights> weights,
                       ThreadPool* threads, AddAttention add_attention)
    : source_form_(source_form),
      weights_(std::move(weights)),
      work_(std::make_unique<inference::Workspace>()),
      add_attention_(std::move(add_attention)) {
  work_->threads = threads;
}

PlainModel::~PlainModel() = default;

std::unique_ptr<DecodingStep> PlainModel::start(std::span<const SearchInput* const> sentences,
                                                const SearchOptions& options, const LogitsRules& rules) {
  std::vector<int64_t> ids, lengths;
  for (const auto* sentence : sentences) {
    const auto& source = sentence->sources.at(0);
    lengths.push_back(source_length(std::ssize(source), source_form_.markers));
    ids.resize(ids.size() + lengths.back());
    write_source(source, source_form_, ids.data() + ids.size() - lengths.back());
  }
  return std::make_unique<PlainStep>(inference::TransformerDecoder(weights_, ids, lengths, *work_), work_->threads,
                                     sentences, options, rules);
}

}  // namespace nmt
