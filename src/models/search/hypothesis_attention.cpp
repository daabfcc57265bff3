#include "models/search/hypothesis_attention.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "models/search/torch_step.h"
#include "nn/device/device.h"
#include "text/tokenizer.h"

namespace nmt {
namespace {

/// A hypothesis and the sentence it translates.
struct Pair {
  const std::vector<int32_t>* source;
  Hypothesis* hypothesis;
  int64_t tokens() const { return std::ssize(hypothesis->token_log_probabilities); }
};

TensorBatch batch_of(std::span<const Pair> pairs, const SourceForm& form, torch::Device device) {
  std::vector<const std::vector<int32_t>*> sources;
  int64_t width = 0;
  for (const Pair& pair : pairs) {
    sources.push_back(pair.source);
    width = std::max(width, pair.tokens());
  }
  const auto source = to_source_tensors(sources, form, device);
  const int64_t rows = std::ssize(pairs);
  const auto target_in = torch::full({rows, width}, int64_t{SpecialIds::kPad}, torch::kLong);
  const auto lengths = torch::empty({rows}, torch::kLong);
  for (int64_t i = 0; i < rows; ++i) {
    int64_t* row = target_in.data_ptr<int64_t>() + i * width;
    row[0] = SpecialIds::kBegin;
    std::copy_n(pairs[i].hypothesis->ids.begin(), pairs[i].tokens() - 1, row + 1);
    lengths.data_ptr<int64_t>()[i] = pairs[i].tokens();
  }
  return {.source = source.ids,
          .source_lengths = source.lengths,
          .target_in = copy_to_device(target_in, device),
          .target_out = {},  // the attention does not depend on it
          .target_lengths = lengths};
}

/// The attention of each layer: [pairs, target, source] on the CPU. None where the model has no attention to the
/// source. Throws Error where it has no such head.
std::vector<torch::Tensor> cross_attention(TranslationModel& model, const TensorBatch& batch, int64_t head) {
  std::vector<torch::Tensor> layers;  // the mean of the heads of each, or the one head
  model.visit_attention(batch, [&](const AttentionMap& map) {
    if (!map.is_cross()) return;
    check_alignment_head(head, map.weights.size(1));
    layers.push_back((head > 0 ? map.weights.select(1, head - 1) : map.weights.mean(1)).cpu());
  });
  return layers;
}

// Fills in the weights by the pieces in the order of the text, without markers.
void fill(std::span<const Pair> pairs, const torch::Tensor& weights, const SourceForm& form) {
  const int64_t first_piece = form.markers == SourceMarkers::kBoth ? 1 : 0;
  for (int64_t i = 0; i < std::ssize(pairs); ++i) {
    const int64_t pieces = std::ssize(*pairs[i].source);
    auto& attention = pairs[i].hypothesis->attention;
    for (int64_t token = 0; token < pairs[i].tokens(); ++token) {
      const float* row = weights.const_data_ptr<float>() + (i * weights.size(1) + token) * weights.size(2);
      const std::span read(row + first_piece, pieces);
      if (form.reversed)
        attention.insert(attention.end(), read.rbegin(), read.rend());
      else
        attention.insert(attention.end(), read.begin(), read.end());
    }
  }
}

/// Each token gets the weights of the step after it; the last one has none and keeps its own.
void shift_to_reading_steps(Hypothesis& hypothesis, int64_t pieces) {
  auto& attention = hypothesis.attention;
  if (std::ssize(attention) > pieces) std::copy(attention.begin() + pieces, attention.end(), attention.begin());
}

void rank_by_coverage(const SearchOptions& options, const SearchInput& input, std::vector<Hypothesis>& hypotheses) {
  const int64_t source_pieces = std::ssize(input.sources.front());
  for (auto& hypothesis : hypotheses) {
    hypothesis.coverage_penalty = options.coverage_penalty * coverage(hypothesis, source_pieces);
    hypothesis.score += hypothesis.coverage_penalty;
  }
  sort_best_first(hypotheses);
  const int64_t wanted = input.n_best > 0 ? input.n_best : options.n_best;
  if (std::ssize(hypotheses) > wanted) hypotheses.resize(wanted);
}

}  // namespace

void add_attention(const SearchModel& model, std::span<const SearchInput* const> inputs, const SearchOptions& options,
                   std::vector<std::vector<Hypothesis>>& results) {
  constexpr int64_t kWeightsAtOnce = 1 << 20;  // of one head: bounds the memory for long sentences
  std::vector<Pair> pairs;
  for (size_t i = 0; i < inputs.size(); ++i)
    for (auto& hypothesis : results[i])
      if (!hypothesis.token_log_probabilities.empty()) pairs.push_back({&inputs[i]->sources.front(), &hypothesis});
  for (std::span<const Pair> rest(pairs); !rest.empty();) {
    size_t count = 0;
    for (int64_t source = 0, target = 0; count < rest.size(); ++count) {
      source = std::max(source, source_length(std::ssize(*rest[count].source), model.source_form.markers));
      target = std::max(target, rest[count].tokens());
      if (count > 0 && static_cast<int64_t>(count + 1) * source * target > kWeightsAtOnce) break;
    }
    const auto together = rest.first(count);
    const auto batch = batch_of(together, model.source_form, device_of(*model.model));
    const auto layers = cross_attention(*model.model, batch, options.alignment_head);
    if (layers.empty()) throw Error("this model has no attention to the source: no alignments and no coverage penalty");
    fill(together, layers[alignment_layer_of(options.alignment_layer, std::ssize(layers))].contiguous(),
         model.source_form);
    rest = rest.subspan(count);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (options.coverage_penalty > 0) rank_by_coverage(options, *inputs[i], results[i]);
    for (auto& hypothesis : results[i]) {
      if (!options.attention)
        hypothesis.attention.clear();
      else if (options.alignment_token == AlignmentToken::kInput)
        shift_to_reading_steps(hypothesis, std::ssize(inputs[i]->sources.front()));
    }
  }
}

void TorchModels::add_attention(std::span<const SearchInput* const> sentences, const SearchOptions& options,
                                std::vector<std::vector<Hypothesis>>& results) {
  nmt::add_attention(models_.front(), sentences, options, results);
}

bool has_alignment(const SearchModel& model, const SearchOptions& options) {
  const std::vector<int32_t> piece = {SpecialIds::kUnknown};
  Hypothesis end{.ids = {SpecialIds::kEnd}, .token_log_probabilities = {0}};
  const Pair pair{&piece, &end};
  const auto batch = batch_of({&pair, 1}, model.source_form, device_of(*model.model));
  const int64_t layers = std::ssize(cross_attention(*model.model, batch, options.alignment_head));
  if (layers > 0) alignment_layer_of(options.alignment_layer, layers);
  return layers > 0;
}

double coverage(const Hypothesis& hypothesis, int64_t source_pieces) {
  constexpr double kMin = 1e-9;  // a logarithm of 0 would tell no hypotheses apart
  double sum = 0;
  for (int64_t piece = 0; piece < source_pieces; ++piece) {
    double attention = 0;
    for (size_t at = piece; at < hypothesis.attention.size(); at += source_pieces)
      attention += hypothesis.attention[at];
    sum += std::log(std::clamp(attention, kMin, 1.0));
  }
  return sum;
}

}  // namespace nmt
