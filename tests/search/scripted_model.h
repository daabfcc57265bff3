#pragma once

#include <torch/types.h>

#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/random.h"
#include "models/interface/model.h"
#include "text/tokenizer.h"

namespace nmt::test {

using Ids = std::vector<int32_t>;

/// Ids of the scripts' words; the vocabulary is <pad> <unk> <s> </s> a b (c d ...).
inline constexpr int32_t kEnd = SpecialIds::kEnd, kA = 4, kB = 5, kC = 6;

/// Probabilities of the token after `prefix` (without <s>) in a translation of `source` (without </s>), one for each
/// token of the vocabulary; they need not sum to 1 where a test does not compare scores.
using Script = std::function<std::vector<double>(const Ids& source, const Ids& prefix)>;

/// A model that says what it is told to, and writes down how it was asked.
class ScriptedModel : public TranslationModel {
 public:
  ScriptedModel(int64_t vocabulary, Script script) : vocabulary_(vocabulary), script_(std::move(script)) {}

  torch::Tensor forward(const TensorBatch&, ForwardContext&) override { throw std::logic_error("not scripted"); }
  torch::Tensor output_weight() const override { throw std::logic_error("not scripted"); }
  torch::Tensor output_bias() const override { throw std::logic_error("not scripted"); }
  int64_t target_vocabulary() const override { return vocabulary_; }
  void finish_gradients() override {}
  void set_compute_type(at::ScalarType) override {}
  at::ScalarType compute_type() const override { return at::kFloat; }

  std::unique_ptr<DecoderState> start(const torch::Tensor& source, const torch::Tensor& lengths) override {
    auto state = std::make_unique<State>();
    for (int64_t i = 0; i < source.size(0); ++i) {
      const auto* row = source.const_data_ptr<int64_t>() + i * source.size(1);
      const int64_t length = lengths.const_data_ptr<int64_t>()[i];
      if (row[length - 1] != kEnd) throw std::logic_error("a source without </s>");
      for (int64_t j = length; j < source.size(1); ++j) {
        if (row[j] != SpecialIds::kPad) throw std::logic_error("a source that is not padded");
      }
      state->hypotheses.push_back({Ids(row, row + length - 1), {}, false});
    }
    note(started, source.size(0));
    return state;
  }

  using TranslationModel::step;
  torch::Tensor step(DecoderState& state, const torch::Tensor& tokens_of_rows, StepLogits which) override {
    const auto tokens = tokens_of_rows.dim() == 1 ? tokens_of_rows.unsqueeze(1) : tokens_of_rows;  // [rows, n]
    if (tokens.size(1) > 1 && !prefills) throw std::logic_error("one token a row is expected");
    if (tokens.size(1) > 1) note(prefilled, tokens.size(1));
    std::vector<torch::Tensor> logits;
    for (const auto& next : tokens.unbind(1)) logits.push_back(step_once(state, next.contiguous()));
    return which == StepLogits::kEach ? torch::stack(logits, 1) : logits.back();
  }
  DecodingCapabilities capabilities() const override { return {.exact_prefill = prefills}; }

  bool prefills = false;           ///< whether it takes several tokens a row
  std::vector<int64_t> started;    ///< sentences of each start()
  std::vector<int64_t> steps;      ///< rows of each step, a token of a prefill being one
  std::vector<int64_t> prefilled;  ///< tokens a row of each prefill

 private:
  torch::Tensor step_once(DecoderState& state, const torch::Tensor& tokens) {
    auto& hypotheses = static_cast<State&>(state).hypotheses;
    if (tokens.size(0) != std::ssize(hypotheses)) throw std::logic_error("as many tokens as rows are expected");
    note(steps, std::ssize(hypotheses));
    auto logits = torch::empty({std::ssize(hypotheses), vocabulary_}, torch::kFloat);
    for (size_t row = 0; row < hypotheses.size(); ++row) {
      auto& hypothesis = hypotheses[row];
      const auto token = static_cast<int32_t>(tokens.const_data_ptr<int64_t>()[row]);
      if (hypothesis.begun == (token == SpecialIds::kBegin)) throw std::logic_error("<s> comes first, and only then");
      if (hypothesis.begun) hypothesis.prefix.push_back(token);
      hypothesis.begun = true;
      const auto probabilities = script_(hypothesis.source, hypothesis.prefix);
      for (int64_t id = 0; id < vocabulary_; ++id) {
        logits.data_ptr<float>()[row * vocabulary_ + id] = static_cast<float>(std::log(probabilities.at(id)));
      }
    }
    return logits;
  }

  // A translator asks from several threads.
  void note(std::vector<int64_t>& record, int64_t value) {
    const std::lock_guard lock(mutex_);
    record.push_back(value);
  }

  struct Row {
    Ids source, prefix;
    bool begun = false;
  };
  struct State : DecoderState {
    int64_t rows() const override { return std::ssize(hypotheses); }
    void select(const torch::Tensor& rows) override {
      std::vector<Row> selected;
      for (int64_t i = 0; i < rows.size(0); ++i) selected.push_back(hypotheses.at(rows.const_data_ptr<int64_t>()[i]));
      hypotheses = std::move(selected);
    }
    std::vector<Row> hypotheses;
  };

  std::mutex mutex_;
  int64_t vocabulary_;
  Script script_;
};

/// A distribution that is a function of (seed, source, prefix): every hypothesis has its own. Special tokens but </s>
/// have next to no probability, other tokens a fair one.
inline Script random_script(uint64_t seed, int64_t vocabulary) {
  return [=](const Ids& source, const Ids& prefix) {
    uint64_t key = mix64(seed + 1);
    for (const int32_t id : source) key = mix64(key * 31 + id);
    key = mix64(key + 0x9e37);
    for (const int32_t id : prefix) key = mix64(key * 31 + id);
    CounterRandom random({key});
    std::vector<double> probabilities(vocabulary);
    double sum = 0;
    for (auto& p : probabilities) sum += p = std::exp(4 * random.uniform());
    for (auto& p : probabilities) p /= sum;
    return probabilities;
  };
}

}  // namespace nmt::test
