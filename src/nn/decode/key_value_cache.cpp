#include "nn/decode/key_value_cache.h"

#include <ATen/ops/cat.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "nn/attention/attention.h"
#include "nn/device/device.h"

namespace nmt {

void SourceCache::join(SourceCache& /*other*/) { TORCH_CHECK(false, "a search whose sentences start together"); }

void SourceCache::keep(std::span<const int64_t> /*groups*/) {}

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

void CpuKeyValueCache::append(const torch::Tensor& keys_and_values) {
  for (int64_t token = 0; token < keys_and_values.size(1); ++token)
    history_.push(keys_and_values.select(1, token).to(form_.kept_type).contiguous());
}

torch::Tensor CpuKeyValueCache::attend(const torch::Tensor& q) { return attention_step(q, history_, form_.heads); }

void CpuKeyValueCache::join(LayerCache& other, int64_t own_rows, int64_t other_rows) {
  history_.join(dynamic_cast<CpuKeyValueCache&>(other).history_, own_rows, other_rows);
}

CpuSourceCache::CpuSourceCache(const torch::Tensor& keys_and_values, const AttentionForm& form) : form_(form) {
  const auto both = keys_and_values.to(form.kept_type).chunk(2, -1);
  groups_.push_back({both[0], both[1]});
}

torch::Tensor CpuSourceCache::attend(const torch::Tensor& q, std::span<const SourcePlace> places) {
  return attention_step(q, groups_, form_.heads, places);
}

void CpuSourceCache::join(SourceCache& other) {
  std::ranges::move(dynamic_cast<CpuSourceCache&>(other).groups_, std::back_inserter(groups_));
}

void CpuSourceCache::keep(std::span<const int64_t> groups) {
  std::vector<KeyValues> kept;
  for (const int64_t group : groups) kept.push_back(std::move(groups_[group]));
  groups_ = std::move(kept);
}

torch::Tensor heads_first(const torch::Tensor& x, HeadCounts heads) {
  return x.unflatten(-1, {heads.key_value, -1}).transpose(1, 2).contiguous();
}

void StaticKeyValueCache::append(const torch::Tensor& keys_and_values) {
  TORCH_CHECK(keys_and_values.size(1) == 1, "a step of fixed shape takes one token a row");
  const auto kv = keys_and_values.chunk(2, -1);
  if (!kept_.keys.defined()) {
    const int64_t head_dim = kv[0].size(2) / heads_.key_value;
    for (auto* kept : {&kept_.keys, &kept_.values})
      *kept = kv[0].new_zeros({kv[0].size(0), heads_.key_value, slot_->capacity, head_dim});
  }
  kept_.visible = slot_->visible;
  kept_.keys.index_copy_(2, slot_->position, heads_first(kv[0], heads_));
  kept_.values.index_copy_(2, slot_->position, heads_first(kv[1], heads_));
}

void StaticKeyValueCache::select(const torch::Tensor& rows) {
  if (kept_.keys.defined()) continue_from(*this, copy_to_device(rows, kept_.keys.device()), slot_->capacity);
}

void StaticKeyValueCache::join(LayerCache& /*other*/, int64_t /*own_rows*/, int64_t /*other_rows*/) {
  TORCH_CHECK(false, "a search whose sentences start together");
}

void StaticKeyValueCache::continue_from(const LayerCache& from, const torch::Tensor& parents, int64_t steps) {
  const auto& theirs = dynamic_cast<const StaticKeyValueCache&>(from).kept_;
  const auto take = [&](torch::Tensor& mine, const torch::Tensor& past) {
    if (!mine.defined()) mine = past.new_zeros({slot_->rows, past.size(1), slot_->capacity, past.size(3)});
    mine.narrow(0, 0, parents.size(0)).narrow(2, 0, steps).copy_(past.narrow(2, 0, steps).index_select(0, parents));
  };
  take(kept_.keys, theirs.keys);
  take(kept_.values, theirs.values);
}

int64_t StaticKeyValueCache::bytes() const {
  return kept_.keys.defined() ? static_cast<int64_t>(kept_.keys.nbytes() + kept_.values.nbytes()) : 0;
}

std::unique_ptr<KeyValueCache> make_key_value_cache(const CacheOptions& options, const AttentionForm& form) {
  if (options.form == CacheForm::kStatic) return std::make_unique<StaticKeyValueCache>(options.slot, form);
  if (options.form == CacheForm::kCpu && form.fits_kernel()) return std::make_unique<CpuKeyValueCache>(form);
  return std::make_unique<PlainKeyValueCache>(form);
}

std::unique_ptr<SourceCache> make_source_cache(CacheForm form, const torch::Tensor& keys_and_values,
                                               const AttentionForm& attention) {
  if (form == CacheForm::kCpu && attention.fits_kernel())
    return std::make_unique<CpuSourceCache>(keys_and_values, attention);
  return std::make_unique<PlainSourceCache>(keys_and_values, attention);
}

}  // namespace nmt
