#pragma once

#include <memory>
#include <vector>

#include "models/interface/model.h"
#include "nn/decode/decoder_cache.h"

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

}  // namespace nmt
