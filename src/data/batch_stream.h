#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "data/batches.h"
#include "data/changed_pairs.h"
#include "data/prepared_corpus.h"

namespace nmt {

/// Where a stream of training batches stands: the next batch to hand out.
struct BatchPosition {
  int64_t epoch = 0;  ///< from 0
  int64_t batch = 0;  ///< in that epoch, from 0
  // Two numbers for a large corpus; else 0.
  int64_t shard = 0;        ///< of that epoch, from 0
  int64_t shard_begin = 0;  ///< the shard's first batch
  // Two numbers for BatchOptions::stages; else 0.
  int64_t stage = 0;        ///< from 0
  int64_t stage_begin = 0;  ///< the stage's first epoch
};

/// The endless stream of training batches, prepared ahead on a thread, in order: shard by shard of an epoch, of which
/// there is one for a corpus of at most BatchOptions::shard_pairs pairs. Holds the plan of one shard and its changed
/// pairs, and no more of the corpus.
class BatchStream {
 public:
  BatchStream(std::shared_ptr<const PreparedCorpus> corpus, BatchOptions options, BatchPosition start = {});
  ~BatchStream();
  Batch next();                    ///< rethrows a worker's exception here
  BatchPosition position() const;  ///< of the batch that next() will return: what a checkpoint stores
  /// The number of batches in the epoch of position(). All shards but the last are taken to have as many as the one of
  /// position().
  int64_t batches_of_current_epoch() const;
  /// Leaves the stage of position(), which is not the last one, and what its epoch still has: next() returns the first
  /// batch of the stage that follows.
  void begin_next_stage();

 private:
  struct Item {
    Batch batch;
    BatchPosition after;
    int64_t batches_after;  // batches of the epoch of `after`
  };
  using Plan = std::vector<std::vector<int64_t>>;
  void begin(BatchPosition start);
  void stop();
  void enter_stage(int64_t stage);
  Plan plan_ahead();     // of ahead_.shard
  void work(Plan plan);  // its batches
  BatchPosition after(BatchPosition position, const Plan& plan) const;
  int64_t batches_of_epoch(BatchPosition position, const Plan& plan) const;
  EpochView epoch_ahead() const {
    return EpochView(*corpus_, options_.sampling, ahead_.epoch)
        .with_links(options_.links.get())
        .with_changed(changed_pairs_.get());
  }

  std::shared_ptr<const PreparedCorpus> corpus_;
  BatchOptions options_;
  int64_t shards_ = 1;  // of an epoch of the stage
  BatchPosition position_;
  int64_t batches_ = 0;
  // The worker's own: its position, and the changed pairs of that shard; null: texts stay as they are.
  BatchPosition ahead_;
  std::unique_ptr<ChangedPairs> changed_pairs_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> ready_;
  std::exception_ptr failure_;
  bool stop_ = false;
  std::thread worker_;  // last: joined before what it uses goes
};

}  // namespace nmt
