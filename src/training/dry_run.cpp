#include "training/dry_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/process/progress.h"
#include "config/option_table.h"
#include "training/batch_options.h"
#include "training/checkpoints/checkpoint.h"
#include "training/fine_tuning.h"
#include "training/memory/memory_plan.h"

namespace nmt {
namespace {

constexpr int64_t kProgram = 300'000'000, kProgramOnCard = 1'000'000'000;  // libraries; on a card what CUDA takes

/// Beside tensors: the program, and what an allocator keeps or cannot use.
int64_t reserve(bool host, int64_t most) { return host ? kProgram + most / 8 : kProgramOnCard + most / 20; }

/// The highest value that an option of `training` takes.
int64_t most_of(const char* option) {
  return static_cast<int64_t>(std::get<Range>(find_option("training", option)->limits).max);
}

class Question {
 public:
  Question(Config config, const PreparedData& data, DryRunPlace place)
      : config_(std::move(config)),
        place_(std::move(place)),
        corpus_(*data.train),
        batches_(batch_options(config_, data.codec)),
        model_({.config = config_,
                .source_vocabulary = data.codec.source().size(),
                .target_vocabulary = data.codec.target().size(),
                .batch = {},
                .place = place_of(place_.host, place_.precision),
                .processes = place_.processes}) {}

  const MemoryModel& model() const { return model_; }
  MemoryPlan plan(const BatchShape& batch) const { return model_.plan(batch); }
  int64_t needed(const BatchShape& batch) const {
    const int64_t most = model_.plan(batch).most;
    return most + reserve(place_.host, most);
  }
  bool fits(const BatchShape& batch) const { return needed(batch) <= place_.memory; }
  /// The batch that needs most, of those of training.batch_size `size`.
  BatchShape largest(int64_t size) const {
    auto options = batches_;
    options.size = size;
    // Of a size that is tried: with `drop` one above the corpus has no batch at all, and a short one needs less.
    if (size != config_.training.batch_size && options.last_batch == LastBatch::kDrop)
      options.last_batch = LastBatch::kKeep;
    return largest_batch(corpus_, options, [this](const BatchShape& shape) { return plan(shape).most; });
  }
  BatchShape largest() const { return largest(config_.training.batch_size); }

  /// A training.batch_size that fits, as large as can be found in some steps; 0: none. Batches of another size have
  /// other widths, of which others may need most: each size is planned.
  int64_t fitting_size() const {
    auto batch = largest();
    const int64_t least = fits(batch) ? config_.training.batch_size : 0;
    int64_t size = std::min(size_of(batch, most_rows(batch)), largest_size());
    constexpr int kSteps = 4;  // in which it mostly is found
    for (int step = 1; size > least; ++step) {
      batch = largest(size);
      if (fits(batch)) return size;
      size = std::min(size_of(batch, most_rows(batch)), step < kSteps ? size - 1 : size / 2);
    }
    return least;
  }

 private:
  /// That the option takes; where the last batch is dropped, no more pairs than there are.
  int64_t largest_size() const {
    const bool has_to_be_full =
        config_.training.last_batch == LastBatch::kDrop && config_.training.batch_type == BatchType::kSentences;
    const int64_t most = most_of("batch_size");
    return has_to_be_full ? std::min(most, corpus_.size()) : most;
  }
  /// Most pairs of the widths of `batch` that fit; 0: none.
  int64_t most_rows(BatchShape batch) const {
    int64_t fit = 0, beyond = 1;
    const auto fits_with = [&](int64_t rows) {
      batch.rows = rows;
      return fits(batch);
    };
    for (; beyond < (int64_t{1} << 32) && fits_with(beyond); beyond *= 2) fit = beyond;
    while (beyond - fit > 1) {
      const int64_t middle = fit + (beyond - fit) / 2;
      (fits_with(middle) ? fit : beyond) = middle;
    }
    return fit;
  }
  /// training.batch_size that such rows come to.
  int64_t size_of(const BatchShape& batch, int64_t rows) const {
    return config_.training.batch_type == BatchType::kTokens ? rows * std::max(batch.source, batch.target) : rows;
  }

  Config config_;
  DryRunPlace place_;
  const PreparedCorpus& corpus_;
  BatchOptions batches_;
  MemoryModel model_;
};

std::string row(const char* name, const std::string& value, const std::string& note = {}) {
  return fmt::format("{:<22}{:>12}{}{}\n", name, value, note.empty() ? "" : "  ", note);
}

}  // namespace

DryRunAnswer dry_run(const Config& config, const PreparedData& data, const DryRunPlace& place) {
  const bool begins = checkpoints_in(std::filesystem::path(config.run.dir) / "checkpoints").empty();
  if (const auto& from = config.training.init_from; begins && !from.empty()) require_initial_weights(from);
  const Question question(config, data, place);
  const auto batch = question.largest();
  const auto plan = question.plan(batch);
  const int64_t needed = question.needed(batch);
  DryRunAnswer answer;
  answer.fits = needed <= place.memory;
  auto& table = answer.table;
  const auto add = [&table](const char* name, int64_t bytes, const std::string& note = {}) {
    if (bytes > 0) table += row(name, format_bytes(bytes), note);
  };
  const auto& training = config.training;
  const bool shares = training.shard_optimizer && place.processes > 1;
  add(place.host ? "memory" : "memory of the card", place.memory,
      fmt::format("{}, {}", place.precision,
                  place.processes > 1 ? fmt::format("{} processes, each", place.processes) : "one process"));
  add("parameters", plan.parameters, fmt::format("{} of float32", with_commas(question.model().parameter_count())));
  add("gradients", plan.gradients);
  add("optimizer state", plan.optimizer, training.optimizer.name() + (shares ? ", the largest share" : ""));
  add("moving average", plan.average);
  add("exchange", plan.exchange, "gradients of other processes");
  add("activations", plan.activations,
      fmt::format("of the largest batch, {} pairs of {} and {} tokens{}", with_commas(batch.rows), batch.source,
                  batch.target, training.gradient_checkpointing ? ", with gradient checkpointing" : ""));
  add("output layer", plan.output_layer, "logits, their gradients");
  add("at once, at most", plan.most);
  add("program and reserve", reserve(place.host, plan.most));
  add("needed", needed);
  int64_t size = question.fitting_size();
  table += row("largest batch_size", with_commas(size),
               fmt::format("training.batch_size, {}; configured are {}", training.batch_type.name(),
                           with_commas(training.batch_size)));
  if (answer.fits) return answer;

  std::vector<std::string> ways;
  const auto try_with = [&](const std::string& what, const Config& changed, const DryRunPlace& elsewhere) {
    const Question other(changed, data, elsewhere);
    if (other.fits(other.largest())) ways.push_back(what);
  };
  auto checkpointing = config;
  checkpointing.training.gradient_checkpointing = true;
  if (!training.gradient_checkpointing) try_with("training.gradient_checkpointing: true", checkpointing, place);
  auto sharing = config;
  sharing.training.shard_optimizer = true;
  if (!training.shard_optimizer && place.processes > 1) try_with("training.shard_optimizer: true", sharing, place);
  auto shorter = place;
  shorter.precision = "bf16";
  if (place.precision == "fp32" && !place.host) try_with("run.precision: bf16", config, shorter);
  const auto smaller = [&](int64_t fitting) {
    const int64_t times = (training.batch_size + fitting - 1) / fitting;
    return fmt::format("training.batch_size: {} with training.accumulate: {}", fitting,
                       std::min(training.accumulate * times, most_of("accumulate")));
  };
  if (size > 0) {
    ways.push_back(smaller(size));
  } else if (ways.empty()) {
    // Everything at once.
    auto all = checkpointing;
    all.training.shard_optimizer = place.processes > 1;
    size = Question(all, data, place.host ? place : shorter).fitting_size();
    if (size > 0)
      ways.push_back(fmt::format("training.gradient_checkpointing: true{}{} and {}",
                                 place.processes > 1 ? ", training.shard_optimizer: true" : "",
                                 place.host ? "" : ", run.precision: bf16", smaller(size)));
  }
  answer.advice = fmt::format("the configuration needs {} of {}: ", format_bytes(needed), format_bytes(place.memory));
  answer.advice += ways.empty() ? std::string("no batch fits; take a smaller model, or more memory")
                                : fmt::format("set {}", fmt::join(ways, ", or "));
  return answer;
}

}  // namespace nmt
