#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "models/interface/model.h"
#include "nn/decode/key_value_cache.h"

namespace nmt {

/// The state of a search by a model of blocks with caches: the caches of all layers, the position of each row, and
/// where it finds the encoder output of its sentence. Sentences that started together are one group of encoder outputs.
class CachedState final : public DecoderState {
 public:
  /// One row a sentence. source_lengths int64 [sentences] on the CPU; the caches have made no step, those of encoder
  /// outputs have one group (a decoder without an encoder has none: its rows have sources that nobody looks at).
  CachedState(const torch::Tensor& source_lengths, DecoderCache cache);

  int64_t rows() const override { return std::ssize(sources_); }
  void select(const torch::Tensor& rows) override;
  void join(std::unique_ptr<DecoderState> other) override;

  /// Where the next n tokens of each row stand; valid until the rows change.
  StepRows advance(int64_t n);
  DecoderCache& cache() { return cache_; }

 private:
  void drop_finished();

  std::vector<SourcePlace> sources_;  // of each row
  std::vector<int64_t> positions_;    // of each row's next token
  int64_t groups_ = 1;                // of sentences
  DecoderCache cache_;
};

/// What a step of fixed shapes has capacity for.
struct StepShape {
  int64_t rows = 0, source = 0, target = 0;
  bool operator==(const StepShape&) const = default;
};
/// Rounded up, so that few shapes serve all searches; target not beyond `limit`.
StepShape rounded_up(const StepShape& needed, int64_t limit);

/// What a model gives for its static steps.
struct StaticDecoder {
  /// The caches of all layers but those of encoder outputs.
  std::function<DecoderCache(const CacheOptions& options)> start;
  /// Tokens int64 [rows, 1] -> the decoder's output [rows, 1, model].
  std::function<torch::Tensor(const torch::Tensor& tokens, DecoderCache& cache)> step;
  int64_t positions = 0;  ///< target positions that the model has
};

/// Decoding steps with static caches: a GPU records each once and replays it (CUDA graphs), which takes one launch
/// instead of hundreds. Rows and positions that nobody needs are computed and not looked at. Steps that a search has
/// used serve later ones; several searches at once have one each.
class StaticSteps {
 public:
  explicit StaticSteps(StaticDecoder decoder);

  /// source_lengths int64 [sentences] on the CPU; sentences: of each decoder block the keys and values of the encoder
  /// outputs, [sentences, heads, source, head_dim].
  std::unique_ptr<DecoderState> start(const torch::Tensor& source_lengths, std::vector<StaticKeyValues> sentences);
  /// Feeds a state of start() its tokens, int64 [rows, n], one position after the other: the decoder's output [rows, n,
  /// model].
  static torch::Tensor step(DecoderState& state, const torch::Tensor& tokens);

 private:
  class Step;
  class Pool;
  class State;
  std::shared_ptr<Pool> pool_;
};

}  // namespace nmt
