#include "nn/decode/attention_step.h"

#include <ATen/Parallel.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "nn/device/cpu_kernels.h"

namespace nmt {

void StepHistory::push(torch::Tensor step) {
  const int64_t row_bytes = step.size(1) * static_cast<int64_t>(step.element_size());
  TORCH_CHECK(steps_.empty() || (step.size(0) == rows_ && row_bytes == row_bytes_), "a step of other hypotheses");
  if (steps_.empty()) {
    rows_ = step.size(0);
    row_bytes_ = row_bytes;
    first_step_.assign(rows_, 0);
  }
  if (steps() == room_) widen();
  for (int64_t r = 0; r < rows_; ++r) row_of_step_[r * room_ + steps()] = static_cast<int32_t>(r);
  const auto* data = static_cast<const std::byte*>(step.const_data_ptr());
  steps_.push_back({.rows = std::move(step), .data = data});
}

void StepHistory::widen() {
  const int64_t room = std::max<int64_t>(32, 2 * room_);
  std::vector<int32_t> wider(rows_ * room);
  for (int64_t r = 0; r < rows_; ++r) std::copy_n(row_of_step_.begin() + r * room_, room_, wider.begin() + r * room);
  row_of_step_ = std::move(wider);
  room_ = room;
}

// Steps before the first one, which nobody has made.
void StepHistory::put_steps_before(int64_t count) {
  const int64_t capacity = std::max(room_, steps() + count);
  std::vector<int32_t> shifted(rows_ * capacity);
  for (int64_t r = 0; r < rows_; ++r)
    std::copy_n(row_of_step_.begin() + r * room_, steps(), shifted.begin() + r * capacity + count);
  row_of_step_ = std::move(shifted);
  room_ = capacity;
  steps_.insert(steps_.begin(), count, Step());
  for (auto& first : first_step_) first += count;
}

void StepHistory::join(const StepHistory& other, int64_t own_rows, int64_t other_rows) {
  if (steps_.empty() && other.steps_.empty()) return;
  if (steps_.empty()) {
    rows_ = own_rows;
    row_bytes_ = other.row_bytes_;
    first_step_.assign(rows_, 0);
  }
  if (other.steps() > steps()) put_steps_before(other.steps() - steps());
  const int64_t before = steps() - other.steps(), first_row = rows_;  // the newest steps of both are one
  rows_ += other_rows;
  first_step_.resize(rows_, steps());
  row_of_step_.resize(rows_ * room_);
  for (int64_t r = 0; r < other_rows && !other.steps_.empty(); ++r)
    first_step_[first_row + r] = before + other.first_step_[r];
  for (int64_t step = 0; step < other.steps(); ++step) {
    auto& mine = steps_[before + step];
    const auto& theirs = other.steps_[step].rows;
    const int64_t stored = mine.rows.defined() ? mine.rows.size(0) : 0;
    mine.rows = stored > 0 ? at::cat({mine.rows, theirs}) : theirs;
    mine.data = static_cast<const std::byte*>(mine.rows.const_data_ptr());
    for (int64_t r = 0; r < other_rows; ++r)
      row_of_step_[(first_row + r) * room_ + before + step] =
          static_cast<int32_t>(stored) + other.row_of_step_[r * other.room_ + step];
  }
}

void StepHistory::select(const torch::Tensor& rows) {
  if (steps_.empty()) return;
  const int64_t* parents = rows.const_data_ptr<int64_t>();
  rows_ = rows.size(0);
  std::vector<int64_t> first_step(rows_);
  for (int64_t r = 0; r < rows_; ++r) first_step[r] = first_step_[parents[r]];
  // Steps before the first of them all are nobody's.
  const int64_t dropped = rows_ > 0 ? *std::ranges::min_element(first_step) : steps();
  std::vector<int32_t> selected(rows_ * room_);
  for (int64_t r = 0; r < rows_; ++r) {
    const auto old = row_of_step_.begin() + parents[r] * room_;
    std::copy(old + dropped, old + steps(), selected.begin() + r * room_);
    first_step[r] -= dropped;
  }
  steps_.erase(steps_.begin(), steps_.begin() + dropped);
  first_step_ = std::move(first_step);
  row_of_step_ = std::move(selected);
  // A few steps back the hypotheses of a sentence have one past: every step is looked at now and then.
  constexpr int64_t kPeriod = 3;
  for (int64_t step = steps() - kPeriod; step >= 0; step -= kPeriod) compact(step);
}

void StepHistory::compact(int64_t step) {
  const int64_t stored = steps_[step].rows.size(0);
  std::vector<int32_t> place(stored, -1);
  std::vector<const void*> used;
  const auto owned = [&](int64_t row) { return first_step_[row] <= step; };
  for (int64_t r = 0; r < rows_; ++r) {
    if (!owned(r)) continue;
    auto& of_row = place[row_of_step_[r * room_ + step]];
    if (of_row >= 0) continue;
    of_row = static_cast<int32_t>(used.size());
    used.push_back(at(r, step - first_step_[r]));
  }
  if (2 * std::ssize(used) > stored) return;
  auto rows = torch::empty({std::ssize(used), steps_[step].rows.size(1)}, steps_[step].rows.options());
  auto* data = static_cast<std::byte*>(rows.mutable_data_ptr());
  for (size_t i = 0; i < used.size(); ++i) std::memcpy(data + i * row_bytes_, used[i], row_bytes_);
  for (int64_t r = 0; r < rows_; ++r) {
    auto& row = row_of_step_[r * room_ + step];
    if (owned(r)) row = place[row];
  }
  steps_[step] = {.rows = std::move(rows), .data = data};
}

namespace {

// q [rows, n, features]: step has a query for each row and token, in their order.
torch::Tensor run(kernels::AttentionStep step, const torch::Tensor& q, HeadCounts heads) {
  auto context = torch::empty(q.sizes(), torch::TensorOptions(torch::kFloat32).device(torch::kCPU));
  step.heads = heads.query;
  step.key_value_heads = heads.key_value;
  step.head_dim = q.size(2) / heads.query;
  step.q = q.const_data_ptr<float>();
  step.query_stride = q.size(1) == 1 ? q.stride(0) : q.stride(1);
  step.context = context.mutable_data_ptr<float>();
  step.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(step.head_dim)));
  at::parallel_for(0, q.size(0) * q.size(1) * heads.query, 32, [&](int64_t begin, int64_t end) {
    kernels::kernels().attention_step(step, {begin, end});
  });
  return context;
}

// The kernel walks queries by one stride: rows must lie end to end.
torch::Tensor with_query_stride(const torch::Tensor& q) {
  const bool fits = q.stride(2) == 1 && (q.size(0) == 1 || q.stride(0) == q.size(1) * q.stride(1));
  return fits ? q : q.contiguous();
}

}  // namespace

torch::Tensor attention_step(const torch::Tensor& q, const StaticKeyValues& kv) {
  const int64_t rows = q.size(0), heads = kv.keys.size(1), head_dim = kv.keys.size(3);
  const auto grouped = q.reshape({rows, heads, -1, head_dim});  // [rows, key_value_heads, group, head_dim]
  const double scale = 1.0 / std::sqrt(static_cast<double>(head_dim));
  const auto scores = (at::matmul(grouped, kv.keys.transpose(2, 3)) * scale)
                          .masked_fill(kv.visible.logical_not(), -std::numeric_limits<float>::infinity());
  const auto weights = at::softmax(scores, -1, torch::kFloat32).to(q.scalar_type());
  return at::matmul(weights, kv.values).reshape_as(q);
}

torch::Tensor attention_step(const torch::Tensor& q_in, const StepHistory& history, HeadCounts heads) {
  const auto q = with_query_stride(q_in);
  const int64_t rows = q.size(0), tokens = q.size(1);
  std::vector<int64_t> lengths(rows * tokens);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t token = 0; token < tokens; ++token)
      lengths[row * tokens + token] = history.length(row) - (tokens - 1 - token);
  }
  const int64_t longest = lengths.empty() ? 0 : *std::ranges::max_element(lengths);
  std::vector<const void*> keys(rows * tokens * longest);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t token = 0; token < tokens; ++token) {
      const int64_t query = row * tokens + token;
      for (int64_t step = 0; step < lengths[query]; ++step) keys[query * longest + step] = history.at(row, step);
    }
  }
  return run({.type = history.element_size() == 2 ? kernels::Type::kBfloat16 : kernels::Type::kFloat,
              .keys = keys.data(),
              .widest = longest,
              .lengths = lengths.data(),
              .value_offset = heads.key_value * (q.size(2) / heads.query)},
             q, heads);
}

torch::Tensor attention_step(const torch::Tensor& q_in, std::span<const KeyValues> groups, HeadCounts heads,
                             std::span<const SourcePlace> places) {
  for (const auto& [keys, values] : groups)
    TORCH_CHECK(keys.is_alias_of(values) && keys.strides() == values.strides() && keys.stride(2) == 1,
                "keys and values must be slices of one tensor");
  const auto q = with_query_stride(q_in);
  const int64_t rows = q.size(0), tokens = q.size(1);
  std::vector<int64_t> lengths(rows * tokens);
  for (int64_t query = 0; query < rows * tokens; ++query) lengths[query] = places[query / tokens].length;
  const int64_t longest = lengths.empty() ? 0 : *std::ranges::max_element(lengths);
  std::vector<const void*> key_rows(rows * tokens * longest);
  for (int64_t query = 0; query < rows * tokens; ++query) {
    const auto& place = places[query / tokens];
    const auto& keys = groups[place.group].keys;
    const auto element = static_cast<int64_t>(keys.element_size());
    const auto* key = static_cast<const std::byte*>(keys.const_data_ptr()) + place.index * keys.stride(0) * element;
    for (int64_t j = 0; j < lengths[query]; ++j) key_rows[query * longest + j] = key + j * keys.stride(1) * element;
  }
  const auto& [keys, values] = groups.front();
  return run({.type = kernel_type(keys),
              .keys = key_rows.data(),
              .widest = longest,
              .lengths = lengths.data(),
              .value_offset = values.storage_offset() - keys.storage_offset()},
             q, heads);
}

}  // namespace nmt
