// A step without LibTorch: what docs/extending.md points to.
#include <gtest/gtest.h>

#include <cmath>

#include "search/list_search.h"
#include "search/reference_search.h"
#include "search/scripted_model.h"
#include "search/step_scores.h"

namespace nmt::plain_step_test {
namespace {

using test::Ids;
using test::kA;
using test::kB;
using test::kC;
using test::Script;

constexpr int64_t kVocabulary = 9;

/// The rows of a script in plain buffers.
class ScriptedStep final : public DecodingStep {
 public:
  ScriptedStep(const Script& script, std::span<const SearchInput* const> sentences, const SearchOptions& options,
               const LogitsRules& rules)
      : script_(script), options_(options), rules_(rules) {
    for (const auto* sentence : sentences) rows_.push_back({sentence->sources.front(), {}});
  }

  int64_t rows() const override { return std::ssize(rows_); }

  void feed(const StepInput& input) override {
    std::vector<Row> next;
    for (size_t row = 0; row < input.ancestors.size(); ++row) {
      next.push_back(rows_.at(input.ancestors[row]));
      if (input.tokens[row] != SpecialIds::kBegin)
        next.back().prefix.push_back(static_cast<int32_t>(input.tokens[row]));
    }
    rows_ = std::move(next);
  }

  StepScores scores(const StepQuery& query) override {
    std::vector<float> values;
    for (const auto& [source, prefix] : rows_)
      for (const double probability : script_(source, prefix))
        values.push_back(static_cast<float>(std::log(probability)));
    PlainLogits logits(values, kVocabulary);
    if (!query.rules.empty()) rules_.change(logits, LogitsRules::Of::kModel, query.rules);
    return step_scores(logits, query, options_);
  }

  void join(std::unique_ptr<DecodingStep> other) override {
    for (auto& row : static_cast<ScriptedStep&>(*other).rows_) rows_.push_back(std::move(row));
  }

 private:
  struct Row {
    Ids source, prefix;
  };
  const Script& script_;
  const SearchOptions& options_;
  const LogitsRules& rules_;
  std::vector<Row> rows_;
};

class PlainScript final : public DecodingModel {
 public:
  explicit PlainScript(Script script) : script_(std::move(script)) {}
  std::unique_ptr<DecodingStep> start(std::span<const SearchInput* const> sentences, const SearchOptions& options,
                                      const LogitsRules& rules) override {
    return std::make_unique<ScriptedStep>(script_, sentences, options, rules);
  }
  bool joins() const override { return true; }
  bool exact_blocks() const override { return false; }
  int64_t target_vocabulary() const override { return kVocabulary; }
  void add_attention(std::span<const SearchInput* const>, const SearchOptions&,
                     std::vector<std::vector<Hypothesis>>&) override {
    throw std::logic_error("a script has no attention");
  }

 private:
  Script script_;
};

// Sentences join those under way in one search and wait for them in the other; the rules change logits in plain memory
// and in a tensor's.
TEST(PlainStep, FindsWhatTheTorchStepFinds) {
  const auto script = test::random_script(5, kVocabulary);
  std::vector<SearchInput> inputs;
  for (const auto& source : test::some_sources(kVocabulary, 30)) {
    inputs.push_back({.sources = {source}, .number = std::ssize(inputs)});
    if (inputs.size() % 3 == 0) inputs.back().prefix = {kB, kA};
    if (inputs.size() % 4 == 0) inputs.back().must_appear = {{kA, kC}};
  }
  for (const SearchOptions& options :
       {SearchOptions{{.beam_size = 1}}, SearchOptions{{.beam_size = 4, .no_repeat_ngram_size = 2}, 4},
        SearchOptions{{.beam_size = 4, .repetition_penalty = 1.3, .diversity_groups = 2}, 4},
        SearchOptions{{.beam_size = 1, .sampling = true, .seed = 3}, 2}}) {
    PlainScript plain(script);
    test::ScriptedModel model(kVocabulary, script);
    const SearchModel only{.model = &model};
    ListQueue<SearchInput, std::vector<Hypothesis>> queue(inputs);
    search(plain, queue, 8, options);
    const auto expected = search(std::span(&only, 1), inputs, options);
    for (size_t i = 0; i < inputs.size(); ++i) test::expect_equal(queue.results()[i].value(), expected[i]);
  }
}

}  // namespace
}  // namespace nmt::plain_step_test
