#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "models/interface/model.h"
#include "models/transformer/transformer.h"

namespace nmt {

/// What a step of fixed shape has room for.
struct StepShape {
  int64_t rows = 0, source = 0, target = 0;
  bool operator==(const StepShape&) const = default;
};
/// Rounded up, so that few shapes serve all searches; target not beyond `limit`.
StepShape rounded_up(const StepShape& needed, int64_t limit);

/// Decoding steps whose tensors keep their shapes and their memory: a GPU records each once and replays it, which takes
/// one launch instead of hundreds. Rows and positions that nobody needs are computed and not looked at. Steps that a
/// search has used serve later ones; several searches at once have one each.
class FixedSteps {
 public:
  /// What a step computes: tokens int64 [rows] -> decoder output [rows, model]. Its states have a fixed place.
  using Body =
      std::function<torch::Tensor(const torch::Tensor& tokens, MixerState& input, std::vector<BlockCache>& caches)>;
  /// limit: target positions that the model has.
  FixedSteps(Body body, int64_t limit);

  /// source_lengths int64 [sentences] on the CPU; memories: of each decoder block, [sentences, heads, source,
  /// head_dim].
  std::unique_ptr<DecoderState> start(const torch::Tensor& source_lengths, std::vector<FixedKeyValues> memories);
  /// Feeds a state of start() its tokens, int64 [rows]: the decoder's output [rows, model].
  static torch::Tensor step(DecoderState& state, const torch::Tensor& tokens);

 private:
  class Step;
  class Pool;
  class State;
  std::shared_ptr<Pool> pool_;
};

}  // namespace nmt
