#include "search/rules/best_tokens.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/error.h"
#include "nn/kernels/kernels.h"
#include "text/tokenizer.h"

namespace nmt {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Entry {
  float value;
  int32_t id;
};

bool may_be_chosen(int64_t id) { return id != SpecialIds::kPad && id != SpecialIds::kBegin; }

[[noreturn]] void fail() {
  throw Error("the model's output is not a number: its weights are damaged; use another checkpoint");
}

/// The best entries of a row seen so far, in order.
class BestEntries {
 public:
  explicit BestEntries(int64_t count) : count_(static_cast<size_t>(count)) { entries_.reserve(count_ + 1); }
  /// What an entry has to exceed. Ids come in ascending order, so the lower id of equal ones is kept.
  float threshold() const { return entries_.size() < count_ ? -kInfinity : entries_.back().value; }
  void add(Entry entry) {
    const auto place = std::upper_bound(entries_.begin(), entries_.end(), entry,
                                        [](const Entry& a, const Entry& b) { return a.value > b.value; });
    entries_.insert(place, entry);
    if (entries_.size() > count_) entries_.pop_back();
  }
  void clear() { entries_.clear(); }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  size_t count_;
  std::vector<Entry> entries_;
};

/// Most blocks hold nothing that is good enough: their maxima tell so.
void scan_row(std::span<const float> row, const float* block_maxima, BestEntries& best) {
  for (int64_t start = 0; start < std::ssize(row); start += kernels::kLogitBlock) {
    if (!(block_maxima[start / kernels::kLogitBlock] > best.threshold())) continue;
    const int64_t end = std::min(start + kernels::kLogitBlock, std::ssize(row));
    for (int64_t i = start; i < end; ++i)
      if (row[i] > best.threshold() && may_be_chosen(i)) best.add({row[i], static_cast<int32_t>(i)});
  }
}

BestTokens best_tokens_on_cpu(const torch::Tensor& logits, int64_t count) {
  const int64_t rows = logits.size(0), vocabulary = logits.size(1);
  const int64_t blocks = kernels::logit_block_count(vocabulary);
  BestTokens result{.width = count, .ids = {}, .log_probabilities = {}};
  result.ids.assign(rows * count, BestTokens::kNone);
  result.log_probabilities.assign(rows * count, -kInfinity);
  std::vector<float> block_maxima(rows * blocks), maxima(rows), log_sums(rows);
  const kernels::LogitRows task{.logits = logits.const_data_ptr<float>(),
                                .classes = vocabulary,
                                .block_maxima = block_maxima.data(),
                                .maxima = maxima.data(),
                                .log_sums = log_sums.data()};
  constexpr int64_t kLogitsPerThread = 1 << 17;  // fewer are not worth waking a thread
  at::parallel_for(0, rows, std::max<int64_t>(1, kLogitsPerThread / vocabulary), [&](int64_t begin, int64_t end) {
    BestEntries best(count);
    for (int64_t row = begin; row < end; ++row) {
      kernels::kernels().logit_rows(task, {row, row + 1});
      best.clear();
      scan_row({task.logits + row * vocabulary, size_t(vocabulary)}, block_maxima.data() + row * blocks, best);
      if (best.entries().empty() || !std::isfinite(log_sums[row])) fail();
      for (int64_t i = 0; const Entry& entry : best.entries()) {
        result.ids[row * count + i] = entry.id;
        result.log_probabilities[row * count + i++] = (entry.value - maxima[row]) - log_sums[row];
      }
    }
  });
  return result;
}

BestTokens best_tokens_on_device(const torch::Tensor& logits, int64_t count) {
  auto log_probabilities = at::log_softmax(logits, -1);
  log_probabilities.select(1, SpecialIds::kPad).fill_(-kInfinity);
  log_probabilities.select(1, SpecialIds::kBegin).fill_(-kInfinity);
  const auto [device_values, device_ids] = log_probabilities.topk(count, -1);
  // Both in one copy, the only time that a step waits for the device; float64 holds either exactly.
  const auto found = at::stack({device_values.to(torch::kFloat64), device_ids.to(torch::kFloat64)}).cpu();
  const double* values = found.const_data_ptr<double>();  // [2, rows, count]
  const int64_t size = device_values.numel();
  BestTokens result{.width = count, .ids = {}, .log_probabilities = {}};
  result.log_probabilities.assign(values, values + size);
  result.ids.assign(values + size, values + 2 * size);
  for (int64_t row = 0; row < logits.size(0); ++row) {
    float* value = result.log_probabilities.data() + row * count;
    int32_t* id = result.ids.data() + row * count;
    if (!std::isfinite(value[0])) fail();
    for (int64_t i = 0; i < count;) {  // runs of equal probability by id; probability 0 is none
      int64_t end = i + 1;
      while (end < count && value[end] == value[i]) ++end;
      if (value[i] == -kInfinity) std::fill(id + i, id + end, BestTokens::kNone);
      std::sort(id + i, id + end);
      i = end;
    }
  }
  return result;
}

}  // namespace

BestTokens best_tokens(const torch::Tensor& logits, int64_t count) {
  TORCH_CHECK(logits.dim() == 2 && logits.scalar_type() == torch::kFloat, "logits: float32 [rows, vocabulary]");
  count = std::min(count, logits.size(1));
  if (logits.device().is_cpu()) return best_tokens_on_cpu(logits.contiguous(), count);
  return best_tokens_on_device(logits, count);
}

}  // namespace nmt
