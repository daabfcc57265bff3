#pragma once

#include <torch/types.h>

#include <functional>
#include <span>
#include <vector>

#include "data/batches.h"
#include "models/interface/model.h"
#include "models/interface/safetensors.h"
#include "training/distributed/gradient_buckets.h"
#include "training/loop/objectives.h"
#include "training/optimizers/optimizer.h"

namespace nmt {

class PackedUpdates;

/// Dynamic loss scaling for float16 (Micikevicius et al. 2018, sec. 3.2): the loss is multiplied by a power of two, so
/// that small gradients do not become zero in 16 bits, and the gradients are divided by it. Where one overflows the
/// update is left out and the scale halved; after `growth` updates in a row that were made it is doubled. All of it
/// happens on the device: the host asks for nothing.
class LossScale {
 public:
  struct Options {
    double initial = 65536;
    int64_t growth = 2000;  ///< updates
  };
  explicit LossScale(torch::Device device) : LossScale(device, Options()) {}
  LossScale(torch::Device device, Options options);

  /// The loss as backward() starts from it.
  torch::Tensor scaled(const torch::Tensor& loss) const { return loss * scale_; }
  /// The gradients of the loss itself, in place; one that overflowed is not finite afterwards.
  void unscale(const std::vector<torch::Tensor>& gradients) const;
  /// skipped: float32 scalar on the device, 1 where the update was left out.
  void follow(const torch::Tensor& skipped);

  /// float32 scalar on the device.
  const torch::Tensor& value() const { return scale_; }
  /// What a checkpoint holds: tensors that the caller may write to.
  NamedTensors state() const { return {{"loss_scale.scale", scale_}, {"loss_scale.good_updates", good_updates_}}; }

 private:
  torch::Tensor scale_, good_updates_;  // float32, int32 scalars on the device
  int64_t growth_;
};

/// Sums over one update. Tokens count once where an objective looks at them twice.
struct UpdateStats {
  double loss = 0;        ///< of the objective, nats, summed over target tokens
  double label_loss = 0;  ///< -log p(label), nats
  int64_t correct = 0, source_tokens = 0, target_tokens = 0;
  int64_t padded_tokens = 0;  ///< rows x widths of both sides
  double gradient_norm = 0;   ///< before clipping, of the mean loss (UpdateParts::loss_mean)
  bool skipped = false;       ///< loss or gradient was not finite: weights stayed as they were
  bool split = false;         ///< a batch did not fit into memory and was cut in two
  double loss_scale = 1;      ///< what the loss was multiplied by (LossScale)

  UpdateStats& operator+=(const UpdateStats& other);
};

/// What the random numbers of an update are a function of.
struct UpdateKey {
  uint64_t seed = 1;
  int64_t update = 1;
};

/// An update that a GPU may still be working on.
struct LaunchedUpdate {
  UpdateStats known;            ///< what the host knows beforehand: tokens, and whether a batch was split
  torch::Tensor sums;           ///< float64 [batches, 3]: loss, label_loss, correct
  torch::Tensor norm, skipped;  ///< float32 scalars on the device
  torch::Tensor scale = {};     ///< the same: LossScale's; undefined without

  /// All of it; waits for the device.
  UpdateStats stats() const;
};

/// A validation or an update was cut short by a signal: it is done again when the run resumes.
struct Interrupted {};

/// What all updates of a run work with.
struct UpdateParts {
  TranslationModel& model;
  Optimizer& optimizer;
  Objective& objective;
  torch::Device device = torch::kCPU;
  double clip_norm = 0;  ///< training.clip_norm
  LossMean loss_mean = LossMean::kTokens;
  double teacher_forcing = 1;  ///< training.teacher_forcing
  /// Padded tokens of the wider side: a larger batch is cut into several of equal numbers of pairs, since the
  /// activations of one are all that is kept at once (tokens_at_once()). 0: none is cut.
  int64_t tokens_at_once = 0;
  /// The processes among which the batches are shared out, batch b to process b mod N; all have the same weights and
  /// are given the same batches, and have the same sums, gradients and weights afterwards. Null: this process alone.
  GradientBuckets* processes = nullptr;
  LossScale* loss_scale = nullptr;  ///< of float16; null: none
  /// Makes the gradients of the batches that it takes, in place of the model and autograd, of one process; `optimizer`
  /// is its own. Null: none.
  PackedUpdates* packed = nullptr;
  /// Asked between micro-batches, by all processes at the same places. True: the update ends with Interrupted before
  /// anything but gradients has changed. Empty: nobody is asked.
  std::function<bool()> is_interrupted = {};
};

/// UpdateParts::tokens_at_once of a run. On the CPU a Transformer is as fast in parts of some rows for each thread, and
/// needs half the memory or less. A recurrent model is not: each of its steps has the rows of one word of each pair.
int64_t tokens_at_once(const ModelConfig& model, torch::Device device);

/// With several processes each question costs a message: so many micro-batches lie between two.
constexpr int64_t kBatchesBetweenQuestions = 16;

/// One update over several micro-batches: the gradient is that of the mean loss of all of them (loss_mean). A
/// batch that does not fit into memory is cut in two (and those again). Throws MachineError when a single pair does not
/// fit, Interrupted where is_interrupted says so. Of one process on a GPU the host waits for nothing: it prepares the
/// next update meanwhile.
LaunchedUpdate launch_update(const UpdateParts& parts, std::vector<Batch> batches, const UpdateKey& key,
                             double learning_rate);

/// The same to its end.
UpdateStats train_update(const UpdateParts& parts, std::vector<Batch> batches, const UpdateKey& key,
                         double learning_rate);

/// Rows [begin, end) of a batch, with the same widths.
Batch rows_of(const Batch& batch, int64_t begin, int64_t end);

}  // namespace nmt
