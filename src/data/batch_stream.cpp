#include "data/batch_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/threads.h"

namespace nmt {
namespace {

constexpr size_t kReadyAhead = 16;  // batches

}  // namespace

BatchStream::BatchStream(std::shared_ptr<const PreparedCorpus> corpus, BatchOptions options, BatchPosition start)
    : corpus_(std::move(corpus)), options_(std::move(options)) {
  if (corpus_->size() == 0) throw Error("the training data has no pairs; see what nmt-prepro dropped and why");
  const auto stages = std::max<int64_t>(1, std::ssize(options_.stages));
  if (start.stage < 0 || start.stage >= stages || start.stage_begin < 0 || start.stage_begin > start.epoch)
    throw Error(fmt::format("stage {} of {}, from epoch {} on in epoch {}; the checkpoint belongs to other data",
                            start.stage, stages, start.stage_begin, start.epoch));
  if (options_.sampling.augmentation.any()) changed_pairs_ = std::make_unique<ChangedPairs>();
  begin(start);
}

// What the thread works with is set before it begins.
void BatchStream::begin(BatchPosition start) {
  position_ = ahead_ = start;
  ready_.clear();
  failure_ = nullptr;
  stop_ = false;
  enter_stage(start.stage);
  if (start.shard < 0 || start.shard >= shards_ || start.shard_begin < 0 ||
      (start.shard == 0) != (start.shard_begin == 0)) {
    throw Error(fmt::format("shard {} of epoch {}, which has {} shards; the checkpoint belongs to other data",
                            start.shard, start.epoch, shards_));
  }
  auto plan = plan_ahead();
  batches_ = batches_of_epoch(start, plan);
  if (start.epoch < 0 || start.batch < start.shard_begin || start.batch - start.shard_begin >= std::ssize(plan)) {
    throw Error(fmt::format("batch {} of epoch {}, which has {} batches; the checkpoint belongs to other data",
                            start.batch, start.epoch, batches_));
  }
  worker_ = start_thread([this, plan = std::move(plan)]() mutable {
    try {
      work(std::move(plan));
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      changed_.notify_all();
    }
  });
}

BatchStream::~BatchStream() {
  if (worker_.joinable()) stop();
}

void BatchStream::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  worker_.join();
}

void BatchStream::enter_stage(int64_t stage) {
  if (!options_.stages.empty()) options_.corpus_weights = options_.stages[static_cast<size_t>(stage)].corpus_weights;
  shards_ = shards_of_epoch(*corpus_, options_);
}

void BatchStream::begin_next_stage() {
  stop();
  const int64_t epoch = position_.epoch + (position_.batch > 0 ? 1 : 0);
  begin({.epoch = epoch, .stage = position_.stage + 1, .stage_begin = epoch});
}

BatchPosition BatchStream::after(BatchPosition position, const Plan& plan) const {
  ++position.batch;
  if (position.batch - position.shard_begin < std::ssize(plan)) return position;
  if (position.shard + 1 < shards_) {
    ++position.shard;
    position.shard_begin = position.batch;
    return position;
  }
  BatchPosition next{.epoch = position.epoch + 1, .stage = position.stage, .stage_begin = position.stage_begin};
  const int64_t epochs = options_.stages.empty() ? 0 : options_.stages[static_cast<size_t>(next.stage)].epochs;
  if (epochs > 0 && next.epoch - next.stage_begin >= epochs) {
    ++next.stage;
    next.stage_begin = next.epoch;
  }
  return next;
}

int64_t BatchStream::batches_of_epoch(BatchPosition position, const Plan& plan) const {
  return position.shard_begin + std::ssize(plan) * (shards_ - position.shard);
}

BatchStream::Plan BatchStream::plan_ahead() {
  if (changed_pairs_) changed_pairs_->forget();
  return plan_epoch(*corpus_, options_, ahead_.epoch, ahead_.shard, changed_pairs_.get());
}

void BatchStream::work(Plan plan) {
  for (;;) {
    Item item;
    item.batch = make_batch(epoch_ahead(), plan[static_cast<size_t>(ahead_.batch - ahead_.shard_begin)]);
    const BatchPosition before = std::exchange(ahead_, after(ahead_, plan));
    if (ahead_.epoch != before.epoch || ahead_.shard != before.shard) {
      plan = {};  // two at once would take twice the memory
      if (ahead_.stage != before.stage) enter_stage(ahead_.stage);
      plan = plan_ahead();
    }
    item.after = ahead_;
    item.batches_after = batches_of_epoch(ahead_, plan);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stop_ || ready_.size() < kReadyAhead; });
    if (stop_) return;
    ready_.push_back(std::move(item));
    changed_.notify_all();
  }
}

Batch BatchStream::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return failure_ || !ready_.empty(); });
  if (ready_.empty()) std::rethrow_exception(failure_);
  Item item = std::move(ready_.front());
  ready_.pop_front();
  changed_.notify_all();
  position_ = item.after;
  batches_ = item.batches_after;
  return std::move(item.batch);
}

BatchPosition BatchStream::position() const { return position_; }

int64_t BatchStream::batches_of_current_epoch() const { return batches_; }

}  // namespace nmt
