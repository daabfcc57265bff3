#include "training/memory/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "models/make_model.h"
#include "models/model_directory.h"
#include "nn/device/cpu_allocator.h"
#include "nn/device/device.h"
#include "nn/kernels/training/training_product.h"
#include "nn/ops/parameter.h"
#include "training/distributed/state_shares.h"
#include "training/memory/recurrent_activations.h"
#include "training/memory/transformer_activations.h"
#include "training/optimizers/make_optimizer.h"

namespace nmt {
namespace {

constexpr int64_t kRowMultiple = 256;                          // rows of the output layer are filled up to
constexpr int64_t kLogits = 8 << 20, kLogitsOfGpu = 64 << 20;  // at once, as in output_cross_entropy
constexpr int64_t kUnitOfGpu = 512;

int64_t nbytes(const torch::Tensor& x) { return x.numel() * static_cast<int64_t>(x.element_size()); }

std::vector<PartActivations> activations_of(const Config& config, const BatchShape& batch, const ComputePlace& place) {
  return config.model.architecture == Architecture::kTransformer ? transformer_activations(config, batch, place)
                                                                 : recurrent_activations(config, batch, place);
}

}  // namespace

int64_t ComputePlace::rounded(int64_t bytes_of_tensor) const {
  if (host) return rounded_tensor_bytes(bytes_of_tensor);
  return (bytes_of_tensor + kUnitOfGpu - 1) / kUnitOfGpu * kUnitOfGpu;
}

int64_t copies_of_batch(const TrainingConfig& training) {
  return training.objective == ObjectiveKind::kCrossEntropy ? 1 : 2;
}

ComputePlace place_of(bool host, const std::string& precision) {
  const auto type = precision == "fp32" ? kernels::Type::kFloat : kernels::Type::kBfloat16;
  return {.host = host,
          .bytes = precision == "fp32" ? 4 : 2,
          .packs_weights = host && kernels::training_kernels(type) != nullptr};
}

/// Sizes of a model's parameters and of the state of its optimizer; tensors have no memory.
struct MemoryModel::Weights {
  NamedTensors all;
  int64_t parameters = 0, elements = 0, largest = 0;
  int64_t optimizer = 0, average = 0;  // of the largest share
  int64_t output = 0;                  // elements of the output layer's table
  int64_t tables = 0;                  // the largest table of embeddings that is looked up, bytes
  std::vector<int64_t> of_parts;       // bytes of each of activations_of()
};

MemoryModel::MemoryModel(const MemoryQuestion& question) : question_(question), weights_(std::make_unique<Weights>()) {
  const Config& config = question_.config;
  auto& weights = *weights_;
  const auto rounded = [&](int64_t bytes) { return question_.place.rounded(bytes); };
  {
    const ParameterLimit no_memory(int64_t{1} << 60);
    const auto model = make_model(config.model, question_.source_vocabulary, question_.target_vocabulary);
    for (const auto& [name, parameter] : named_parameters(*model)) {
      weights.all.emplace_back(name, without_memory(parameter));
      weights.elements += parameter.numel();
      weights.parameters += rounded(nbytes(parameter));
      weights.largest = std::max(weights.largest, nbytes(parameter));
      if (name.ends_with("embedding")) weights.tables = std::max(weights.tables, nbytes(parameter));
    }
    weights.output = model->output_weight().numel();
  }
  for (const auto& part : activations_of(config, {1, 1, 1}, question_.place)) {
    int64_t of_part = 0;
    for (const auto& [name, parameter] : weights.all)
      if (name.starts_with(part.name)) of_part += rounded(nbytes(parameter));
    weights.of_parts.push_back(of_part);
  }
  const bool shares = config.training.shard_optimizer && question_.processes > 1;
  std::vector<int64_t> bytes;
  for (const auto& item : weights.all) bytes.push_back(nbytes(item.second));
  const int64_t processes = shares ? question_.processes : 1;
  const auto owners = owners_of(bytes, processes);
  for (int64_t rank = 0; rank < processes; ++rank) {
    NamedTensors own;
    for (size_t i = 0; i < owners.size(); ++i)
      if (owners[i] == rank) own.push_back(weights.all[i]);
    int64_t state = 0, average = 0;
    for (const auto& item : make_optimizer(config.training, own)->state()) state += rounded(nbytes(item.second));
    for (const auto& item : own) average += rounded(nbytes(item.second));
    weights.optimizer = std::max(weights.optimizer, state);
    if (config.training.ema_decay > 0) weights.average = std::max(weights.average, average);
  }
}

MemoryModel::~MemoryModel() = default;

int64_t MemoryModel::parameter_count() const { return weights_->elements; }

MemoryPlan MemoryModel::plan(const BatchShape& batch) const {
  MemoryPlan plan{.parameters = weights_->parameters,
                  .gradients = weights_->parameters,
                  .optimizer = weights_->optimizer,
                  .average = weights_->average};
  // Buckets hold the gradients; over MPI a process has what the others give it of its part, too, and that part's total.
  const int64_t processes = question_.processes;
  if (processes > 1)
    plan.exchange = weights_->parameters * (question_.place.host ? 1 : 0) +
                    (question_.place.host ? weights_->parameters / processes : 0);
  plan.most = peak(batch, plan);
  return plan;
}

// Goes through an update from its first batch to the optimizer and looks at the moments when most is there.
int64_t MemoryModel::peak(const BatchShape& once, MemoryPlan& plan) const {
  const auto& [config, source_vocabulary, target_vocabulary, unused, place, processes] = question_;
  const int64_t copies = copies_of_batch(config.training);
  const BatchShape batch{once.rows * copies, once.source, once.target};
  const auto parts = activations_of(config, batch, place);
  const auto tensor = [&place = place](int64_t elements, int64_t bytes = 0) {
    return TensorSum(place).add(elements, 1, bytes).bytes();
  };
  int64_t kept = 0;
  for (const auto& part : parts) kept += part.kept;
  plan.activations = kept;

  // The output layer.
  const int64_t features = output_features(config.model), table = weights_->output;
  const int64_t rows = (batch.rows * batch.target + kRowMultiple - 1) / kRowMultiple * kRowMultiple;
  const int64_t fitting = (place.host ? kLogits : kLogitsOfGpu) / std::max<int64_t>(target_vocabulary, 1) / 2 * 2;
  const int64_t block = std::min(rows, std::clamp<int64_t>(fitting, 64, std::max<int64_t>(rows, 64)));
  const int64_t of_hidden = tensor(rows * features), of_weight = tensor(table, kFloatBytes);
  int64_t products = 2 * tensor(table);  // packed both ways
  if (!place.packs_weights) products = (place.bytes < kFloatBytes ? tensor(table) : 0) + tensor(table);
  int64_t logits = tensor(block * target_vocabulary);
  if (place.packs_weights) logits += tensor(block * features);
  if (!place.host)
    logits += 3 * tensor(block * target_vocabulary, kFloatBytes);  // probabilities, by operations of tensors
  plan.output_layer = tensor(rows * features) + of_hidden + of_weight + products + logits;

  const int64_t fixed = plan.parameters + plan.optimizer + plan.average + plan.exchange;
  const int64_t batches = (config.training.accumulate + processes - 1) / processes;
  const bool has_gradients = batches > 1 || processes > 1;  // of batches before, or room for those of this one
  int64_t most = 0;
  const auto moment = [&](int64_t bytes) { most = std::max(most, fixed + bytes); };
  const int64_t standing = has_gradients ? plan.gradients : 0;

  int64_t so_far = 0;
  for (const auto& part : parts) {
    so_far += part.kept;
    moment(standing + so_far + part.forward);
  }
  const int64_t hidden = tensor(batch.rows * batch.target * features);
  moment(standing + kept + hidden + plan.output_layer);
  // The loss gives back the gradients of its sum, scaled.
  moment(standing + kept + 2 * (of_hidden + of_weight) + hidden);
  int64_t made = of_weight, late = 0;  // gradients that this batch has made
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    moment((has_gradients ? standing + of_weight : made) + kept + late + part->backward);
    kept -= part->kept;
    late += part->late;
    made += weights_->of_parts[static_cast<size_t>(parts.rend() - part) - 1];
  }
  // Inputs and gradients of a product over all steps lie side by side while it is made.
  int64_t largest_late = 0;
  for (const auto& part : parts) largest_late = std::max(largest_late, part.late / 3);
  const int64_t tables = place.rounded(weights_->tables);
  moment((has_gradients ? standing : made) + late + largest_late);
  // Gradients of embeddings are tables, too.
  moment((has_gradients ? standing : std::min(made + tables, plan.gradients)) + tables + (has_gradients ? tables : 0));
  const bool by_operations = config.training.optimizer != OptimizerKind::kAdam &&
                             config.training.optimizer != OptimizerKind::kAdamW &&
                             config.training.optimizer != OptimizerKind::kSgd;
  int64_t optimizer = by_operations ? 3 * place.rounded(weights_->largest) : 0;
  if (!place.host && config.training.optimizer != OptimizerKind::kAdam &&
      config.training.optimizer != OptimizerKind::kAdamW)
    optimizer += plan.parameters + plan.optimizer;  // a step that may be taken back
  moment(plan.gradients + optimizer);
  return most;
}

BatchShape largest_batch(const PreparedCorpus& corpus, BatchOptions options,
                         const std::function<int64_t(const BatchShape&)>& bytes) {
  options.sampling = {};
  options.links = nullptr;
  const auto markers = corpus.source_form().markers;
  BatchShape largest;
  int64_t most = -1;
  for (const auto& pairs : plan_epoch(corpus, options, 0)) {
    BatchShape shape{.rows = std::ssize(pairs)};
    for (const int64_t pair : pairs) {
      shape.source = std::max(shape.source, source_length(std::ssize(corpus.source(pair)), markers));
      shape.target = std::max<int64_t>(shape.target, std::ssize(corpus.target(pair)) + 1);
    }
    if (shape.rows <= largest.rows && shape.source <= largest.source && shape.target <= largest.target) continue;
    if (const int64_t needed = bytes(shape); needed > most) most = needed, largest = shape;
  }
  return largest;
}

std::string format_bytes(int64_t bytes) {
  if (bytes >= 1'000'000'000) return fmt::format("{:.2f} GB", static_cast<double>(bytes) / 1e9);
  if (bytes >= 1'000'000) return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
  return fmt::format("{:.1f} KB", static_cast<double>(bytes) / 1e3);
}

std::string format_memory(const MemoryPlan& plan, const BatchShape& batch) {
  std::string line = "memory: ";
  const auto add = [&line](int64_t bytes, const char* what) {
    if (bytes > 0) line += fmt::format("{} {}, ", format_bytes(bytes), what);
  };
  add(plan.parameters, "parameters");
  add(plan.gradients, "gradients");
  add(plan.optimizer, "optimizer");
  add(plan.average, "average");
  add(plan.exchange, "exchange");
  add(plan.activations, "activations");
  add(plan.output_layer, "output layer");
  return line + fmt::format("at most {} at once (largest batch: {} pairs of {} and {} tokens)", format_bytes(plan.most),
                            batch.rows, batch.source, batch.target);
}

}  // namespace nmt
