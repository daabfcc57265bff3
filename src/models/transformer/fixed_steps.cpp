#include "models/transformer/fixed_steps.h"

#include <ATen/ops/arange.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <utility>

#include "nn/device/recorded_graph.h"
#include "nn/positions/table_positions.h"

namespace nmt {

StepShape rounded_up(const StepShape& needed, int64_t limit) {
  const auto power = [](int64_t min, int64_t x) {
    return std::max(min, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(x))));
  };
  return {.rows = power(1, needed.rows),
          .source = power(32, needed.source),
          .target = std::min(limit, power(32, needed.target))};
}

/// One step with all that it reads and writes.
class FixedSteps::Step {
 public:
  Step(const StepShape& shape, const std::vector<FixedKeyValues>& memories, const Body& body)
      : shape_(shape), body_(body), graph_(memories.front().keys.device()) {
    const auto integers = memories.front().keys.options().dtype(torch::kInt64);
    tokens_ = torch::zeros({shape.rows}, integers);
    places_ = at::arange(shape.target, integers);
    const auto flags = integers.dtype(torch::kBool);
    place_ = std::make_shared<FixedPlace>();
    place_->room = shape.target;
    place_->position = torch::zeros({1}, integers);
    place_->visible = torch::zeros({shape.target}, flags);
    input_.fixed = place_;
    const auto visible = torch::zeros({shape.rows, 1, 1, shape.source}, flags);
    for (const auto& memory : memories) {
      const auto room = [&](const torch::Tensor& x) {
        return x.new_zeros({shape.rows, x.size(1), shape.source, x.size(3)});
      };
      auto& cache = caches_.emplace_back();
      cache.self.fixed = place_;
      cache.fixed_memory = {.keys = room(memory.keys), .values = room(memory.values), .visible = visible};
    }
  }

  const StepShape& shape() const { return shape_; }
  int64_t bytes() const {
    int64_t bytes = 0;
    for (const auto& cache : caches_) {
      bytes += static_cast<int64_t>(cache.fixed_memory.keys.nbytes() + cache.fixed_memory.values.nbytes());
      for (const auto& tensor : cache.self.tensors) bytes += static_cast<int64_t>(tensor.nbytes());
    }
    return bytes;
  }

  void set_position(int64_t position) { place_->position.fill_(position); }

  /// Row r has the memory of sentence sentence_of_row[r], int64 on the CPU, of which positions below its length count.
  void show(const std::vector<FixedKeyValues>& memories, const torch::Tensor& source_lengths,
            const torch::Tensor& sentence_of_row) {
    const auto device = tokens_.device();
    const auto sentences = at::constant_pad_nd(sentence_of_row, {0, shape_.rows - sentence_of_row.size(0)}).to(device);
    const int64_t width = memories.front().keys.size(2);
    for (size_t block = 0; block < caches_.size(); ++block) {
      auto& mine = caches_[block].fixed_memory;
      mine.keys.narrow(2, 0, width).copy_(memories[block].keys.index_select(0, sentences));
      mine.values.narrow(2, 0, width).copy_(memories[block].values.index_select(0, sentences));
    }
    const auto lengths = source_lengths.to(device).index_select(0, sentences).unsqueeze(1);
    const auto visible = at::arange(shape_.source, lengths.options()) < lengths;  // [rows, source]
    caches_.front().fixed_memory.visible.copy_(visible.unsqueeze(1).unsqueeze(1));
  }

  /// Row r continues row parents[r] of `from` (this step or another): int64 on the device. `steps` were made.
  void take_history(const Step& from, const torch::Tensor& parents, int64_t steps) {
    for (size_t block = 0; block < caches_.size(); ++block) {
      const auto& theirs = from.caches_[block].self.tensors;
      auto& mine = caches_[block].self.tensors;
      while (mine.size() < theirs.size()) {
        const auto& like = theirs[mine.size()];
        mine.push_back(like.new_zeros({shape_.rows, like.size(1), shape_.target, like.size(3)}));
      }
      for (size_t i = 0; i < theirs.size(); ++i)
        mine[i]
            .narrow(0, 0, parents.size(0))
            .narrow(2, 0, steps)
            .copy_(theirs[i].narrow(2, 0, steps).index_select(0, parents));
    }
  }

  torch::Tensor run(const torch::Tensor& tokens) {
    tokens_.narrow(0, 0, tokens.size(0)).copy_(tokens);
    graph_.run([this] {
      place_->visible.copy_(places_ <= place_->position);
      const auto output = body_(tokens_, input_, caches_);
      if (!output_.defined()) output_ = torch::empty_like(output);
      output_.copy_(output);
      place_->position.add_(1);
    });
    return output_.narrow(0, 0, tokens.size(0));
  }

 private:
  StepShape shape_;
  const Body& body_;
  torch::Tensor tokens_, places_, output_;
  std::shared_ptr<FixedPlace> place_;
  MixerState input_;
  std::vector<BlockCache> caches_;
  RecordedGraph graph_;
};

class FixedSteps::Pool {
 public:
  Pool(Body body, int64_t limit) : body_(std::move(body)), limit_(limit) {}

  int64_t limit() const { return limit_; }

  std::unique_ptr<Step> take(const StepShape& shape, const std::vector<FixedKeyValues>& memories) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = std::ranges::find_if(idle_, [&](const auto& step) { return step->shape() == shape; });
      if (found != idle_.end()) {
        auto step = std::move(*found);
        idle_.erase(found);
        return step;
      }
    }
    return std::make_unique<Step>(shape, memories, body_);
  }

  void give_back(std::unique_ptr<Step> step) {
    constexpr int64_t kIdleBytes = int64_t{2} << 30;
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(step));
    int64_t bytes = 0;
    for (const auto& idle : idle_) bytes += idle->bytes();
    while (bytes > kIdleBytes) {
      bytes -= idle_.front()->bytes();
      idle_.erase(idle_.begin());
    }
  }

 private:
  Body body_;
  int64_t limit_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Step>> idle_;  // the one used last at the end
};

class FixedSteps::State final : public DecoderState {
 public:
  State(std::shared_ptr<Pool> pool, torch::Tensor source_lengths, std::vector<FixedKeyValues> memories)
      : pool_(std::move(pool)), source_lengths_(std::move(source_lengths)), memories_(std::move(memories)) {
    sentence_of_row_ = at::arange(source_lengths_.size(0), torch::kInt64);
  }
  ~State() override {
    if (step_) pool_->give_back(std::move(step_));
  }

  int64_t rows() const override { return sentence_of_row_.size(0); }

  void select(const torch::Tensor& rows) override {
    const auto sentences = sentence_of_row_.index_select(0, rows);
    const bool same = sentences.equal(sentence_of_row_);
    sentence_of_row_ = sentences;
    if (step_ && !continue_rows(rows) && !same) step_->show(memories_, source_lengths_, sentence_of_row_);
  }

  torch::Tensor step(const torch::Tensor& tokens) {
    check_length(position_ + 1, pool_->limit(), "target");
    if (!step_) {
      step_ = pool_->take(shape(), memories_);
      step_->set_position(0);
      step_->show(memories_, source_lengths_, sentence_of_row_);
    } else if (position_ == step_->shape().target) {
      continue_rows(at::arange(rows(), torch::kInt64));
    }
    ++position_;
    return step_->run(tokens);
  }

 private:
  StepShape shape() const {
    return rounded_up({.rows = rows(), .source = memories_.front().keys.size(2), .target = position_ + 1},
                      pool_->limit());
  }

  /// Row r continues row parents[r], int64 on the CPU. True where that takes another step, which is ready then.
  bool continue_rows(const torch::Tensor& parents) {
    const auto needed = shape();
    const auto places = parents.to(memories_.front().keys.device());
    if (needed == step_->shape()) {
      step_->take_history(*step_, places, position_);
      return false;
    }
    auto next = pool_->take(needed, memories_);
    next->take_history(*step_, places, position_);
    next->set_position(position_);
    next->show(memories_, source_lengths_, sentence_of_row_);
    pool_->give_back(std::exchange(step_, std::move(next)));
    return true;
  }

  std::shared_ptr<Pool> pool_;
  torch::Tensor source_lengths_, sentence_of_row_;  // int64 on the CPU
  std::vector<FixedKeyValues> memories_;            // of the sentences
  std::unique_ptr<Step> step_;                      // null before the first step
  int64_t position_ = 0;                            // of the next token
};

FixedSteps::FixedSteps(Body body, int64_t limit) : pool_(std::make_shared<Pool>(std::move(body), limit)) {}

std::unique_ptr<DecoderState> FixedSteps::start(const torch::Tensor& source_lengths,
                                                std::vector<FixedKeyValues> memories) {
  return std::make_unique<State>(pool_, source_lengths, std::move(memories));
}

torch::Tensor FixedSteps::step(DecoderState& state, const torch::Tensor& tokens) {
  return dynamic_cast<State&>(state).step(tokens);
}

}  // namespace nmt
