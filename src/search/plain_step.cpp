#include "search/plain_step.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "nn/inference/plain_transformer.h"
#include "search/batch_candidates.h"
#include "search/step_scores.h"

namespace nmt {

namespace {

/// How many sentences share a copy of the weights of their candidates. One alone is quickest, as long as the copies of
/// all stay small.
int64_t group_size(std::span<const SearchInput* const> sentences, const kernels::PackedWeight& output) {
  constexpr int64_t kMostBytes = int64_t{16} << 20;
  int64_t candidates = 0;
  for (const auto* sentence : sentences) candidates += std::ssize(sentence->candidates);
  const int64_t bytes = candidates * kernels::words_in_row(output.format, output.in) * 4;
  return std::clamp<int64_t>((bytes + kMostBytes - 1) / kMostBytes, 1, std::ssize(sentences));
}

class PlainStep final : public DecodingStep {
 public:
  PlainStep(inference::TransformerDecoder decoder, const inference::Map& output, inference::Workspace& work,
            std::span<const SearchInput* const> sentences, const SearchOptions& options, const LogitsRules& rules)
      : decoder_(std::move(decoder)), output_(output), work_(work), options_(options), rules_(rules) {
    if (sentences.front()->candidates.empty()) return;
    candidates_.emplace(sentences, group_size(sentences, output.weight));
    for (const auto& tokens : candidates_->groups()) outputs_.push_back(gather(output, tokens, work.threads));
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
    if (!candidates_) return judge({decoder_.logits(query.token), output_.weight.out, work_.threads}, query, {});
    const auto logits = candidate_logits(query.token);
    return candidates_->scores(query, work_.threads, [&](const BatchCandidates::Run& run, const StepQuery& own_query) {
      const auto& [tokens, columns] = candidates_->sentences()[run.sentence];
      const auto& of_group = logits[candidates_->group_of(run.sentence)];
      const int64_t width = of_group.map->weight.out;
      const std::span rows(of_group.y + (run.first_row - of_group.first_row) * width, run.rows * width);
      if (width == std::ssize(columns)) return judge({rows, width}, own_query, tokens);
      auto own = columns_of(rows, width, columns);
      return judge({own, std::ssize(columns)}, own_query, tokens);
    });
  }

  void join(std::unique_ptr<DecodingStep> other) override {
    decoder_.join(std::move(dynamic_cast<PlainStep&>(*other).decoder_));
  }

 private:
  /// The logits of each group, in logits_; a group has no rows where all its sentences are finished.
  std::vector<inference::RowsOfMap> candidate_logits(int64_t token) {
    std::vector<inference::RowsOfMap> groups(outputs_.size()), parts;
    for (const auto& run : candidates_->runs()) {
      auto& group = groups[candidates_->group_of(run.sentence)];
      if (group.rows == 0) group.first_row = run.first_row;
      group.rows += run.rows;
    }
    size_t size = 0;
    for (size_t i = 0; i < groups.size(); ++i) {
      groups[i].map = &outputs_[i];
      size += groups[i].rows * outputs_[i].weight.out;
    }
    logits_.resize(size);
    for (float* next = logits_.data(); auto& group : groups) {
      group.y = next;
      next += group.rows * group.map->weight.out;
      if (group.rows > 0) parts.push_back(group);
    }
    multiply_parts(parts, decoder_.hidden(token), rows(), work_);
    return groups;
  }

  StepScores judge(PlainLogits logits, StepQuery query, std::span<const int32_t> columns) const {
    if (!query.rules.empty()) rules_.change(logits, LogitsRules::Of::kModel, query.rules, columns);
    if (columns.empty()) return step_scores(logits, query, options_);
    const auto rules = in_places(query.rules, columns);
    query.rules = rules;
    return step_scores(logits, query, options_);
  }

  inference::TransformerDecoder decoder_;
  const inference::Map& output_;
  inference::Workspace& work_;
  const SearchOptions& options_;
  const LogitsRules& rules_;
  std::optional<BatchCandidates> candidates_;
  std::vector<inference::Map> outputs_;  // of each group of them
  std::vector<float> logits_;
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
  return std::make_unique<PlainStep>(inference::TransformerDecoder(weights_, ids, lengths, *work_), weights_->output,
                                     *work_, sentences, options, rules);
}

}  // namespace nmt
