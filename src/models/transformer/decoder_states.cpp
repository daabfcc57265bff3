#include "models/transformer/decoder_states.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <mutex>
#include <utility>

#include "nn/decode/key_value_cache.h"
#include "nn/device/device.h"
#include "nn/device/recorded_graph.h"
#include "nn/positions/table_positions.h"

namespace nmt {

CachedState::CachedState(const torch::Tensor& source_lengths, DecoderCache cache) : cache_(std::move(cache)) {
  const int64_t sentences = source_lengths.size(0);
  for (int64_t i = 0; i < sentences; ++i)
    sources_.push_back({.group = 0, .index = i, .length = source_lengths.const_data_ptr<int64_t>()[i]});
  positions_.assign(sentences, 0);
}

void CachedState::select(const torch::Tensor& rows) {
  std::vector<SourcePlace> sources;
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < rows.size(0); ++i) {
    const int64_t row = rows.const_data_ptr<int64_t>()[i];
    sources.push_back(sources_[row]);
    positions.push_back(positions_[row]);
  }
  sources_ = std::move(sources);
  positions_ = std::move(positions);
  if (cache_.input) cache_.input->select(rows);
  for (auto& block : cache_.blocks) block.past->select(rows);
  drop_finished();
}

void CachedState::join(std::unique_ptr<DecoderState> other_state) {
  auto& other = dynamic_cast<CachedState&>(*other_state);
  const int64_t own_rows = rows(), other_rows = other.rows();
  if (cache_.input) cache_.input->join(*other.cache_.input, own_rows, other_rows);
  for (size_t i = 0; i < cache_.blocks.size(); ++i) {
    auto &mine = cache_.blocks[i], &theirs = other.cache_.blocks[i];
    mine.past->join(*theirs.past, own_rows, other_rows);
    if (mine.source) mine.source->join(*theirs.source);
  }
  for (auto place : other.sources_) {
    place.group += groups_;
    sources_.push_back(place);
  }
  groups_ += other.groups_;
  std::ranges::copy(other.positions_, std::back_inserter(positions_));
}

StepRows CachedState::advance(int64_t n) {
  StepRows rows{.positions = RowPositions(positions_), .sources = sources_};
  for (auto& position : positions_) position += n;
  return rows;
}

// Forgets encoder outputs that no row looks at any more.
void CachedState::drop_finished() {
  std::vector<int64_t> new_group(groups_, -1), kept;
  for (const auto& place : sources_) new_group[place.group] = 0;
  for (int64_t group = 0; group < groups_; ++group) {
    if (new_group[group] < 0) continue;
    new_group[group] = std::ssize(kept);
    kept.push_back(group);
  }
  if (std::ssize(kept) == groups_) return;
  groups_ = std::ssize(kept);
  for (auto& block : cache_.blocks)
    if (block.source) block.source->keep(kept);
  for (auto& place : sources_) place.group = new_group[place.group];
}

StepShape rounded_up(const StepShape& needed, int64_t limit) {
  const auto power = [](int64_t min, int64_t x) {
    return std::max(min, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(x))));
  };
  return {.rows = power(1, needed.rows),
          .source = power(32, needed.source),
          .target = std::min(limit, power(32, needed.target))};
}

/// One step with all that it reads and writes.
class StaticSteps::Step {
 public:
  Step(const StepShape& shape, const std::vector<StaticKeyValues>& sentences, const StaticDecoder& decoder)
      : shape_(shape), decoder_(decoder), graph_(sentences.front().keys.device()) {
    const auto integers = sentences.front().keys.options().dtype(torch::kInt64);
    tokens_ = torch::zeros({shape.rows, 1}, integers);
    positions_ = at::arange(shape.target, integers);
    const auto flags = integers.dtype(torch::kBool);
    slot_ = std::make_shared<StaticSlot>();
    slot_->rows = shape.rows;
    slot_->capacity = shape.target;
    slot_->position = torch::zeros({1}, integers);
    slot_->visible = torch::zeros({shape.target}, flags);
    cache_ = decoder.start({.form = CacheForm::kStatic, .slot = slot_});
    const auto visible = torch::zeros({shape.rows, 1, 1, shape.source}, flags);
    for (size_t block = 0; block < sentences.size(); ++block) {
      const auto with_capacity = [&](const torch::Tensor& x) {
        return x.new_zeros({shape.rows, x.size(1), shape.source, x.size(3)});
      };
      sources_.push_back({.keys = with_capacity(sentences[block].keys),
                          .values = with_capacity(sentences[block].values),
                          .visible = visible});
      cache_.blocks[block].source = std::make_unique<StaticSourceCache>(sources_.back());
    }
  }

  const StepShape& shape() const { return shape_; }
  int64_t bytes() const {
    int64_t bytes = 0;
    for (const auto& source : sources_) bytes += static_cast<int64_t>(source.keys.nbytes() + source.values.nbytes());
    for (const auto& block : cache_.blocks) bytes += block.past->bytes();
    return bytes;
  }

  void set_position(int64_t position) { slot_->position.fill_(position); }

  /// Row r looks at sentence sentence_of_row[r], int64 on the CPU, of which positions below its length count.
  void set_sources(const std::vector<StaticKeyValues>& of_sentences, const torch::Tensor& source_lengths,
                   const torch::Tensor& sentence_of_row) {
    const auto device = tokens_.device();
    const auto sentences =
        copy_to_device(at::constant_pad_nd(sentence_of_row, {0, shape_.rows - sentence_of_row.size(0)}), device);
    const int64_t width = of_sentences.front().keys.size(2);
    for (size_t block = 0; block < sources_.size(); ++block) {
      sources_[block].keys.narrow(2, 0, width).copy_(of_sentences[block].keys.index_select(0, sentences));
      sources_[block].values.narrow(2, 0, width).copy_(of_sentences[block].values.index_select(0, sentences));
    }
    const auto lengths = copy_to_device(source_lengths, device).index_select(0, sentences).unsqueeze(1);
    const auto visible = at::arange(shape_.source, lengths.options()) < lengths;  // [rows, source]
    sources_.front().visible.copy_(visible.unsqueeze(1).unsqueeze(1));            // which all blocks share
  }

  /// Row r continues row parents[r] of `from` (this step or another), int64 on the device, which has `steps` positions.
  void continue_from(const Step& from, const torch::Tensor& parents, int64_t steps) {
    if (cache_.input) cache_.input->continue_from(*from.cache_.input, parents, steps);
    for (size_t block = 0; block < cache_.blocks.size(); ++block)
      cache_.blocks[block].past->continue_from(*from.cache_.blocks[block].past, parents, steps);
  }

  /// tokens int64 [rows, 1] -> [rows, 1, model], in memory that the next run overwrites.
  torch::Tensor run(const torch::Tensor& tokens) {
    tokens_.narrow(0, 0, tokens.size(0)).copy_(tokens);
    graph_.run([this] {
      slot_->visible.copy_(positions_ <= slot_->position);
      const auto output = decoder_.step(tokens_, cache_);
      if (!output_.defined()) output_ = torch::empty_like(output);
      output_.copy_(output);
      slot_->position.add_(1);
    });
    return output_.narrow(0, 0, tokens.size(0));
  }

 private:
  StepShape shape_;
  const StaticDecoder& decoder_;
  torch::Tensor tokens_, positions_, output_;
  std::shared_ptr<StaticSlot> slot_;
  std::vector<StaticKeyValues> sources_;  // of the rows, one a block
  DecoderCache cache_;
  RecordedGraph graph_;
};

class StaticSteps::Pool {
 public:
  explicit Pool(StaticDecoder decoder) : decoder_(std::move(decoder)) {}

  int64_t limit() const { return decoder_.positions; }

  std::unique_ptr<Step> take(const StepShape& shape, const std::vector<StaticKeyValues>& sentences) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = std::ranges::find_if(idle_, [&](const auto& step) { return step->shape() == shape; });
      if (found != idle_.end()) {
        auto step = std::move(*found);
        idle_.erase(found);
        return step;
      }
    }
    return std::make_unique<Step>(shape, sentences, decoder_);
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
  StaticDecoder decoder_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Step>> idle_;  // the one used last at the end
};

class StaticSteps::State final : public DecoderState {
 public:
  State(std::shared_ptr<Pool> pool, torch::Tensor source_lengths, std::vector<StaticKeyValues> sentences)
      : pool_(std::move(pool)), source_lengths_(std::move(source_lengths)), sentences_(std::move(sentences)) {
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
    if (step_ && !continue_rows(rows) && !same) step_->set_sources(sentences_, source_lengths_, sentence_of_row_);
  }

  /// tokens int64 [rows, n] -> [rows, n, model].
  torch::Tensor step(const torch::Tensor& tokens) {
    if (tokens.size(1) == 1) return step_once(tokens);
    std::vector<torch::Tensor> outputs;
    for (int64_t i = 0; i < tokens.size(1); ++i) outputs.push_back(step_once(tokens.narrow(1, i, 1)).clone());
    return at::cat(outputs, 1);
  }

 private:
  torch::Tensor step_once(const torch::Tensor& tokens) {
    check_length(position_ + 1, pool_->limit(), "target");
    if (!step_) {
      step_ = pool_->take(shape(), sentences_);
      step_->set_position(0);
      step_->set_sources(sentences_, source_lengths_, sentence_of_row_);
    } else if (position_ == step_->shape().target) {
      continue_rows(at::arange(rows(), torch::kInt64));
    }
    ++position_;
    return step_->run(tokens);
  }

  StepShape shape() const {
    return rounded_up({.rows = rows(), .source = sentences_.front().keys.size(2), .target = position_ + 1},
                      pool_->limit());
  }

  /// Row r continues row parents[r], int64 on the CPU. True where that takes another step, which is ready then.
  bool continue_rows(const torch::Tensor& parents) {
    const auto needed = shape();
    const auto on_device = copy_to_device(parents, sentences_.front().keys.device());
    if (needed == step_->shape()) {
      step_->continue_from(*step_, on_device, position_);
      return false;
    }
    auto next = pool_->take(needed, sentences_);
    next->continue_from(*step_, on_device, position_);
    next->set_position(position_);
    next->set_sources(sentences_, source_lengths_, sentence_of_row_);
    pool_->give_back(std::exchange(step_, std::move(next)));
    return true;
  }

  std::shared_ptr<Pool> pool_;
  torch::Tensor source_lengths_, sentence_of_row_;  // int64 on the CPU
  std::vector<StaticKeyValues> sentences_;          // one a block
  std::unique_ptr<Step> step_;                      // null before the first step
  int64_t position_ = 0;                            // of the next token
};

StaticSteps::StaticSteps(StaticDecoder decoder) : pool_(std::make_shared<Pool>(std::move(decoder))) {}

std::unique_ptr<DecoderState> StaticSteps::start(const torch::Tensor& source_lengths,
                                                 std::vector<StaticKeyValues> sentences) {
  return std::make_unique<State>(pool_, source_lengths, std::move(sentences));
}

torch::Tensor StaticSteps::step(DecoderState& state, const torch::Tensor& tokens) {
  return dynamic_cast<State&>(state).step(tokens);
}

}  // namespace nmt
