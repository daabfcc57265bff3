#pragma once

#include <memory>
#include <vector>

#include "models/transformer/transformer.h"

namespace nmt {

/// What a search by a Transformer keeps: of each block its past and the memories of the sentences, and where each row
/// finds its sentence. Sentences that started together are one group of memories.
class TransformerState final : public DecoderState {
 public:
  /// source_lengths int64 [sentences] on the CPU; caches: one a decoder block, with one group of memories each.
  TransformerState(const torch::Tensor& source_lengths, std::vector<BlockCache> caches);

  int64_t rows() const override { return std::ssize(memory_of_row_); }
  void select(const torch::Tensor& rows) override;
  void join(std::unique_ptr<DecoderState> fresh) override;

  /// Where the next tokens stand; valid until the rows change.
  StepPlace advance();
  MixerState& input() { return input_; }
  std::vector<BlockCache>& caches() { return caches_; }

 private:
  void drop_finished();

  std::vector<MemoryPlace> memory_of_row_;
  std::vector<int64_t> positions_;  ///< of each row's next token
  MixerState input_;                ///< of positions that look back
  std::vector<BlockCache> caches_;
};

}  // namespace nmt
