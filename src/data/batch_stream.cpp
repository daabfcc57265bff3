#include "data/batch_stream.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"

namespace nmt {
namespace {

constexpr size_t kReadyAhead = 16;  // batches

}  // namespace

BatchStream::BatchStream(std::shared_ptr<const PreparedCorpus> corpus, BatchOptions options, BatchPosition start)
    : corpus_(std::move(corpus)), options_(std::move(options)), position_(start), ahead_(start) {
  if (corpus_->size() == 0) throw Error("the training data has no pairs; see what nmt-prepro dropped and why");
  auto plan = plan_epoch(*corpus_, options_, start.epoch);
  batches_ = static_cast<int64_t>(plan.size());
  if (start.epoch < 0 || start.batch < 0 || start.batch >= batches_) {
    throw Error(fmt::format("batch {} of epoch {}, which has {} batches; the checkpoint belongs to other data",
                            start.batch, start.epoch, batches_));
  }
  worker_ = std::thread([this, plan = std::move(plan)]() mutable {
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
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  worker_.join();
}

void BatchStream::work(std::vector<std::vector<int64_t>> plan) {
  for (;;) {
    Item item;
    item.batch = make_batch(epoch_ahead(), plan[static_cast<size_t>(ahead_.batch)]);
    ++ahead_.batch;
    if (ahead_.batch == static_cast<int64_t>(plan.size())) {
      ahead_ = {.epoch = ahead_.epoch + 1, .batch = 0};
      plan = plan_epoch(*corpus_, options_, ahead_.epoch);
    }
    item.after = ahead_;
    item.batches_after = static_cast<int64_t>(plan.size());
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
