#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "config/config.h"
#include "data/batches.h"
#include "data/prepared_corpus.h"
#include "training/memory/activations.h"

namespace nmt {

/// What is known of a run before it begins.
struct MemoryQuestion {
  const Config& config;
  int64_t source_vocabulary = 0, target_vocabulary = 0;
  BatchShape batch;  ///< of the largest batch
  ComputePlace place;
  int64_t processes = 1;
};

/// Bytes that one process needs. At no time all of it: `most` is the largest sum of any moment.
struct MemoryPlan {
  int64_t parameters = 0, gradients = 0;
  int64_t optimizer = 0, average = 0;  ///< of the process with the largest share
  int64_t exchange = 0;                ///< the buckets of several processes
  int64_t activations = 0;             ///< that the backward pass of the largest batch wants
  int64_t output_layer = 0;            ///< a block of logits, gradients of the output layer
  int64_t most = 0;
};

/// Computes without allocating: docs/training.md#memory has the formulas. Throws Error for a model that cannot be made.
class MemoryModel {
 public:
  explicit MemoryModel(const MemoryQuestion& question);
  ~MemoryModel();
  MemoryModel(const MemoryModel&) = delete;
  MemoryPlan plan() const { return plan(question_.batch); }
  MemoryPlan plan(const BatchShape& batch) const;
  int64_t parameter_count() const;

 private:
  struct Weights;
  int64_t peak(const BatchShape& batch, MemoryPlan& plan) const;

  MemoryQuestion question_;
  std::unique_ptr<Weights> weights_;
};

/// The place of activations of `precision` ("fp32", ...) on the CPU here, or on a card.
ComputePlace place_of(bool host, const std::string& precision);

/// The batch of an epoch, the first, that needs most memory by `bytes`; lengths are those without subword sampling.
BatchShape largest_batch(const PreparedCorpus& corpus, BatchOptions options,
                         const std::function<int64_t(const BatchShape&)>& bytes);

/// Objectives that look at two copies of a batch double its rows.
int64_t copies_of_batch(const TrainingConfig& training);

/// "30.3 MB", in units of 1000.
std::string format_bytes(int64_t bytes);

/// One line of all that is not 0.
std::string format_memory(const MemoryPlan& plan, const BatchShape& batch);

}  // namespace nmt
