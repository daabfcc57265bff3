#include "training/loop/packed_updates.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "models/model_directory.h"
#include "nn/device/cuda_driver.h"
#include "training/packed/batch_plan.h"
#include "training/packed/kernel_check.h"
#include "training/packed/kernel_operations.h"
#include "training/packed/packed_adam.h"
#ifdef NMT_WITH_CUDA
#include <ATen/cuda/CUDAContext.h>
#endif

namespace nmt {
namespace {

template <typename Value>
std::string set_to(const char* option, const Value& value) {
  return fmt::format("{}: {}", option, value);
}

std::string reason_against_model(const ModelConfig& model) {
  constexpr int64_t kWidest = 1024;
  if (model.architecture != Architecture::kTransformer) return set_to("model.architecture", model.architecture.name());
  const int64_t head = model.d_model / model.num_heads;
  if (head != 64 && head != 128) return fmt::format("model.num_heads: heads of {} features, not 64 or 128", head);
  if (model.d_model > kWidest) return set_to("model.d_model", model.d_model);
  if (model.d_ff % 16 != 0) return fmt::format("model.d_ff: {} is no multiple of 16", model.d_ff);
  if (model.norm == Norm::kPre && !model.final_norm) return "model.final_norm: false";
  if (model.activation != FeedForwardActivation::kRelu) return set_to("model.activation", model.activation.name());
  const bool knows_positions = model.positions == PositionKind::kSinusoidal ||
                               model.positions == PositionKind::kLearned || model.positions == PositionKind::kRotary ||
                               model.positions == PositionKind::kNone;
  if (!knows_positions) return set_to("model.positions", model.positions.name());
  if (!model.attention_output_projection) return "model.attention_output_projection: false";
  if (model.qkv_activation != ProjectionActivation::kNone)
    return set_to("model.qkv_activation", model.qkv_activation.name());
  if (model.attention_score != AttentionScoreKind::kScaledDot)
    return set_to("model.attention_score", model.attention_score.name());
  if (model.attention_normalization != AttentionNormalization::kSoftmax)
    return set_to("model.attention_normalization", model.attention_normalization.name());
  if (model.key_value_heads != 0 && model.key_value_heads != model.num_heads)
    return set_to("model.key_value_heads", model.key_value_heads);
  if (model.decoder_mixer != MixerKind::kAttention) return set_to("model.decoder_mixer", model.decoder_mixer.name());
  if (model.deep_init == DeepInitKind::kDeepNet) return set_to("model.deep_init", model.deep_init.name());
  return "";
}

std::string reason_against_training(const TrainingConfig& training) {
  if (training.objective != ObjectiveKind::kCrossEntropy && training.objective != ObjectiveKind::kRDrop)
    return set_to("training.objective", training.objective.name());
  if (training.guided_alignment > 0) return set_to("training.guided_alignment", training.guided_alignment);
  if (training.optimizer != OptimizerKind::kAdam && training.optimizer != OptimizerKind::kAdamW)
    return set_to("training.optimizer", training.optimizer.name());
  if (training.weight_decay > 0 && training.weight_decay_form != WeightDecayForm::kDecoupled)
    return set_to("training.weight_decay_form", training.weight_decay_form.name());
  if (!training.freeze.empty()) return "training.freeze";
  if (training.lora_rank > 0) return set_to("training.lora_rank", training.lora_rank);
  if (training.gradient_checkpointing) return "training.gradient_checkpointing";
  return "";
}

}  // namespace

std::string reason_against_packed_updates(const Config& config, int64_t processes) {
  if (processes > 1) return fmt::format("{} processes", processes);
  const auto& training = config.training;
  if (config.model.mask_padding_positions && training.word_dropout_form == WordDropoutForm::kZero &&
      training.word_dropout1 + training.word_dropout2 > 0)
    return "model.mask_padding_positions with training.word_dropout_form zero";
  const auto reason = reason_against_model(config.model);
  return reason.empty() ? reason_against_training(training) : reason;
}

PackedSupport checked_operations(std::shared_ptr<PackedOperations> operations, const ModelConfig& config,
                                 torch::Device device, at::ScalarType type) {
  for (const auto& check : check_kernels(*operations, config, device, type))
    if (!check.is_right())
      return {.reason = fmt::format("the kernel of {} is wrong on this card: an error of {:.1e}, not below {:.0e}",
                                    check.name, check.error, check.bound),
              .is_wrong = true};
  return {.operations = std::move(operations)};
}

PackedSupport packed_update_supports(const Config& config, torch::Device device, at::ScalarType precision,
                                     int64_t processes) {
  if (!device.is_cuda()) return {.reason = "no CUDA device"};
  if (precision != torch::kBFloat16) return {.reason = "run.precision is not bf16"};
  if (auto reason = reason_against_packed_updates(config, processes); !reason.empty())
    return {.reason = std::move(reason)};
#ifdef NMT_WITH_CUDA
  try {
    const auto* card = at::cuda::getDeviceProperties(device.index());
    return checked_operations(
        std::make_shared<KernelOperations>(load_cuda_driver(), device, card->major * 10 + card->minor), config.model,
        device, precision);
  } catch (const Error& error) {  // no driver, or a card that is too old
    return {.reason = error.what()};
  } catch (const MachineError& error) {
    return {.reason = error.what(), .is_wrong = true};
  } catch (const c10::Error& error) {
    return {.reason = error.what_without_backtrace(), .is_wrong = true};
  }
#else
  return {.reason = "a program that was built without CUDA"};
#endif
}

namespace {

PackedTransformer::Options options_of(const TrainingConfig& training, int64_t classes) {
  PackedTransformer::Options options{.smoothing = smoothing_of(training).rate_over_all(classes)};
  if (training.objective == ObjectiveKind::kRDrop) options.pair = RDrop::pair_loss(training.rdrop_alpha);
  return options;
}

// Above it kernels take longer than their launches, and padding would cost more than these.
constexpr int64_t kMostRecorded = 8192;

// The words of both sides, rounded up; nullopt: too many.
std::optional<PlannedRows> recorded_rows(const TensorBatch& batch) {
  constexpr int64_t kStep = 512;
  const auto rows = [](const torch::Tensor& lengths) {
    return (lengths.sum().item<int64_t>() + kFewestFilled + kStep - 1) / kStep * kStep;
  };
  const PlannedRows wanted{.source = rows(batch.source_lengths), .target = rows(batch.target_lengths)};
  if (std::max(wanted.source, wanted.target) > kMostRecorded) return std::nullopt;
  return wanted;
}

}  // namespace

PackedUpdates::PackedUpdates(const Config& config, const TranslationModel& model,
                             std::shared_ptr<PackedOperations> operations, at::ScalarType type)
    : config_(config),
      operations_(std::move(operations)),
      parameters_(named_parameters(model)),
      smoothing_(smoothing_of(config.training)),
      word_dropout_(word_dropout_of(config.training)),
      classes_(model.output_weight().size(0)),
      largest_tile_(operations_->largest_tile(config.model.d_model / config.model.num_heads)),
      weights_(parameters_, output_table(config.model), type),
      transformer_(config.model, options_of(config.training, classes_), classes_, weights_, *operations_),
      graph_(weights_.weights().device()),
      sums_(torch::zeros({3}, weights_.weights().options().dtype(torch::kFloat64))) {}

std::unique_ptr<Optimizer> PackedUpdates::make_optimizer() const {
  const auto& training = config_.training;
  return std::make_unique<PackedAdam>(parameters_, weights_, *operations_,
                                      Adam::Options{.beta1 = training.adam_beta1,
                                                    .beta2 = training.adam_beta2,
                                                    .epsilon = training.adam_epsilon,
                                                    .weight_decay = {training.weight_decay}});
}

bool PackedUpdates::takes(const Batch& batch) const {
  return fits_into_tiles(batch.source_lengths, batch.target_lengths,
                         std::min(largest_tile_, transformer_.position_limit()));
}

torch::Tensor PackedUpdates::replay(const PackedBatch& plan, int64_t number) {
  const auto [at, is_new] = recorded_.try_emplace(number, plan);
  const auto* batch = &at->second;
  if (!is_new) batch->block.copy_(plan.block);
  graph_.run([this, batch] { sums_.copy_(transformer_.add_gradients(*batch)); }, number);
  return sums_.clone();
}

torch::Tensor PackedUpdates::add_gradients(const Batch& batch, double scale, ForwardContext& context) {
  const bool pairs = config_.training.objective == ObjectiveKind::kRDrop;
  auto read = to_tensors(batch, torch::kCPU);
  if (pairs) read = doubled(read);
  word_dropout_.apply(read, context);
  BatchPlanOptions options{.largest_tile = largest_tile_,
                           .learned_positions = config_.model.positions == PositionKind::kLearned,
                           .pairs = pairs,
                           .key = context.next_key(),
                           .scale = scale};
  // Padding has sentences of up to a small tile, too.
  if (records_graphs(weights_.weights().device()) && transformer_.position_limit() >= kSmallTile &&
      fits_into_tiles(batch.source_lengths, batch.target_lengths, kSmallTile))
    options.rows = recorded_rows(read);
  const auto plan = plan_batch(read, options, weights_.weights().device());
  auto sums = options.rows ? replay(plan, options.rows->source * kMostRecorded + options.rows->target)
                           : transformer_.add_gradients(plan);
  if (const double constant = smoothing_.constant(classes_); constant != 0)
    sums[0].sub_(constant * static_cast<double>(batch.target_tokens));
  return sums;
}

}  // namespace nmt
