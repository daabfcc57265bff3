#include "nn/decode/plain_cache.h"

#include <ATen/ops/cat.h>

#include <algorithm>
#include <vector>

#include "nn/attention/attention.h"
#include "nn/device/device.h"

namespace nmt {
namespace {

// The queries one after the other: query j of n meets the keys that options(j) leaves. Each has then the bits that it
// has in a step of its own.
template <typename AttendOne>
torch::Tensor one_by_one(const torch::Tensor& q, AttendOne&& attend_one) {
  if (q.size(1) == 1) return attend_one(q, 0);
  std::vector<torch::Tensor> contexts;
  for (int64_t j = 0; j < q.size(1); ++j) contexts.push_back(attend_one(q.narrow(1, j, 1), j));
  return at::cat(contexts, 1);
}

torch::Tensor attend(const torch::Tensor& q, const KeyValues& kv, const AttentionForm& form, AttentionOptions options) {
  ForwardContext no_dropout;
  options.heads = form.heads.query;
  options.softmax = form.softmax;
  options.scores = form.scores.get();
  return attention(q, repeat_heads(kv.keys, form.heads), repeat_heads(kv.values, form.heads), options, no_dropout);
}

}  // namespace

void PlainKeyValueCache::append(const torch::Tensor& keys_and_values) {
  const auto kv = keys_and_values.chunk(2, -1);
  const int64_t rows = kv[0].size(0), count = kv[0].size(1), features = kv[0].size(2);
  if (!keys_.defined()) keys_ = values_ = kv[0].new_empty({rows, 0, features});
  if (length_ + count > keys_.size(1)) {  // full: twice the capacity
    for (auto* cache : {&keys_, &values_}) {
      auto wider = cache->new_zeros({rows, std::max({int64_t{16}, 2 * length_, length_ + count}), features});
      wider.narrow(1, 0, length_).copy_(cache->narrow(1, 0, length_));
      *cache = wider;
    }
  }
  keys_.narrow(1, length_, count).copy_(kv[0]);
  values_.narrow(1, length_, count).copy_(kv[1]);
  length_ += count;
}

torch::Tensor PlainKeyValueCache::attend(const torch::Tensor& q) {
  const int64_t first = length_ - q.size(1);
  return one_by_one(q, [&](const torch::Tensor& query, int64_t j) {
    const auto so_far = [&](const torch::Tensor& cache) { return cache.narrow(1, 0, first + j + 1); };
    return nmt::attend(query, {so_far(keys_), so_far(values_)}, form_, {.first_query = first + j});
  });
}

void PlainKeyValueCache::select(const torch::Tensor& rows) {
  if (!keys_.defined()) return;
  const auto places = copy_to_device(rows, keys_.device());
  keys_ = keys_.index_select(0, places);
  values_ = values_.index_select(0, places);
}

void PlainKeyValueCache::join(LayerCache& /*other*/, int64_t /*own_rows*/, int64_t /*other_rows*/) {
  TORCH_CHECK(false, "a search whose sentences start together");
}

PlainSourceCache::PlainSourceCache(const torch::Tensor& keys_and_values, const AttentionForm& form) : form_(form) {
  const auto parts = keys_and_values.chunk(2, -1);
  sentences_ = {parts[0], parts[1]};
}

torch::Tensor PlainSourceCache::attend(const torch::Tensor& q, std::span<const SourcePlace> places) {
  std::vector<int64_t> index, lengths;
  for (const auto& place : places) {
    index.push_back(place.index);
    lengths.push_back(place.length);
  }
  const auto rows = copy_to_device(torch::tensor(index, torch::kInt64), q.device());
  const KeyValues own{sentences_.keys.index_select(0, rows), sentences_.values.index_select(0, rows)};
  const auto counts = torch::tensor(lengths, torch::kInt64);
  return one_by_one(q, [&](const torch::Tensor& query, int64_t) {
    return nmt::attend(query, own, form_, {.source_lengths = counts});
  });
}

}  // namespace nmt
