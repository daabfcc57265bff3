#include "nn/decode/attention_step.h"

#include <ATen/ops/cat.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "nn/attention/attention.h"
#include "tensor_support.h"

namespace nmt::attention_step_test {
namespace {

using test::expect_close;
using test::wave;

KeyValues slices(const torch::Tensor& both) {
  const auto parts = both.chunk(2, -1);
  return {parts[0], parts[1]};
}

std::vector<SourcePlace> in_order(const std::vector<int64_t>& lengths) {
  std::vector<SourcePlace> places;
  for (const int64_t length : lengths) places.push_back({.index = std::ssize(places), .length = length});
  return places;
}

torch::Tensor repeat_heads(const torch::Tensor& x, int64_t key_value, int64_t group) {
  return x.unflatten(-1, {key_value, 1, -1}).expand({-1, -1, -1, group, -1}).flatten(2);
}

torch::Tensor plain(const torch::Tensor& q, const KeyValues& kv, HeadCounts heads, const torch::Tensor& lengths) {
  ForwardContext pass;
  const int64_t group = heads.query / heads.key_value;
  return plain_attention(q.unsqueeze(1), repeat_heads(kv.keys, heads.key_value, group),
                         repeat_heads(kv.values, heads.key_value, group),
                         {.heads = heads.query, .target_lengths = {}, .source_lengths = lengths}, pass)
      .squeeze(1);
}

// Sizes of heads with and without whole vectors, lengths around them.
TEST(AttentionStep, EqualsPlainAttentionToAMemory) {
  for (const int64_t head_dim : {3, 8, 16, 24, 64, 80}) {
    for (const auto heads : {HeadCounts{3, 3}, HeadCounts{4, 2}}) {
      const int64_t rows = 4, time = 37;
      const auto both = wave({rows, time, 2 * heads.key_value * head_dim}, 1, 1);
      const auto memory = slices(both);
      const auto q = wave({rows, heads.query * head_dim});
      const auto lengths = torch::tensor({37, 1, 16, 17}, torch::kInt64);
      const auto places = in_order({37, 1, 16, 17});
      const auto expected = plain(q, memory, heads, lengths);
      const auto step = [&](const KeyValues& kv) {
        return attention_step(q.unsqueeze(1), {&kv, 1}, heads, places).squeeze(1);
      };
      expect_close(step(memory), expected, 1e-5, std::to_string(head_dim));
      const auto low = both.to(torch::kBFloat16), rounded = low.to(torch::kFloat32);
      const auto low_memory = slices(low);
      expect_close(step(low_memory), plain(q, slices(rounded), heads, lengths), 1e-5, std::to_string(head_dim));
    }
  }
}

TEST(AttentionStep, SharesOneMemoryAmongRows) {
  const auto both = wave({2, 6, 16}, 1, 1), q = wave({3, 1, 8});
  const std::vector<SourcePlace> places = {{.index = 1, .length = 4}, {.length = 6}, {.index = 1, .length = 4}};
  const auto memory = slices(both), repeated = slices(both.index_select(0, torch::tensor({1, 0, 1}, torch::kInt64)));
  const auto shared = attention_step(q, {&memory, 1}, {2, 2}, places);
  EXPECT_TRUE(shared.equal(attention_step(q, {&repeated, 1}, {2, 2}, in_order({4, 6, 4}))));
}

TEST(AttentionStep, FindsAMemoryAmongGroups) {
  const auto both = wave({3, 6, 16}, 1, 1), q = wave({3, 1, 8});
  const auto memory = slices(both);
  const std::vector<KeyValues> groups = {slices(both.narrow(0, 2, 1)),
                                         slices(both.narrow(0, 0, 2).narrow(1, 0, 5).contiguous())};
  const std::vector<SourcePlace> places = {{.group = 1, .index = 0, .length = 3},
                                           {.group = 1, .index = 1, .length = 5},
                                           {.group = 0, .index = 0, .length = 6}};
  const auto expected = attention_step(q, {&memory, 1}, {2, 2}, in_order({3, 5, 6}));
  EXPECT_TRUE(attention_step(q, groups, {2, 2}, places).equal(expected));
}

// Hypotheses change places, multiply and die; each one must look at its own past.
void expect_own_past(at::ScalarType type) {
  const HeadCounts heads{2, 1};
  const int64_t head_dim = 20, features = 4 * head_dim;
  StepHistory history;
  torch::Tensor past;  // [rows, steps, features], moved with its hypotheses
  const std::vector<std::vector<int64_t>> parents = {{0, 1, 2}, {2, 0, 2, 2}, {3, 0}, {1, 1, 1, 0, 0}, {4}};
  for (int64_t step = 0; step < 40; ++step) {  // beyond the capacity the history starts with
    const auto& rows = parents[step % parents.size()];
    const auto order = torch::tensor(at::ArrayRef<int64_t>(rows), torch::kInt64) % (step > 0 ? past.size(0) : 3);
    history.select(order);
    const auto qkv = wave({std::ssize(rows), features}, 1, static_cast<double>(step));
    const auto fresh = qkv.unsqueeze(1);
    past = step > 0 ? at::cat({past.index_select(0, order), fresh}, 1) : fresh;
    const auto lengths = torch::full({past.size(0)}, step + 1, torch::kInt64);
    const auto kept = past.narrow(2, 2 * head_dim, 2 * head_dim).to(type).to(torch::kFloat32);
    const auto q = qkv.narrow(1, 0, 2 * head_dim);
    const auto expected = plain(q, slices(kept), heads, lengths);
    history.push(qkv.narrow(1, 2 * head_dim, 2 * head_dim).to(type).contiguous());
    const auto found = attention_step(q.unsqueeze(1), history, heads).squeeze(1);
    expect_close(found, expected, 1e-5, "step " + std::to_string(step));
  }
}

TEST(AttentionStep, FollowsEachHypothesisBack) { expect_own_past(torch::kFloat32); }
TEST(AttentionStep, FollowsEachHypothesisBackInBfloat16) { expect_own_past(torch::kBFloat16); }

// Rows that nobody continues are given back; those that are kept keep their bits.
TEST(StepHistory, KeepsWhatItsHypothesesLeft) {
  StepHistory history;
  std::vector<std::vector<float>> expected(8);  // of each hypothesis: what it left, step after step
  for (int64_t step = 0; step < 50; ++step) {
    if (step > 0) {  // two of the eight continue, four times each: all of the past but one or two rows is dead
      std::vector<int64_t> parents;
      for (int64_t r = 0; r < 8; ++r) parents.push_back((step * 3 + r / 4 * 5) % 8);
      history.select(torch::tensor(at::ArrayRef<int64_t>(parents), torch::kInt64));
      const auto before = expected;
      for (int64_t r = 0; r < 8; ++r) expected[r] = before[parents[r]];
    }
    const auto fresh = wave({8, 5}, 1, static_cast<double>(step));
    history.push(fresh);
    for (int64_t r = 0; r < 8; ++r) expected[r].push_back(fresh[r][4].item<float>());
    ASSERT_EQ(history.length(7), step + 1);
    for (int64_t r = 0; r < 8; ++r)
      for (int64_t past = 0; past <= step; ++past)
        ASSERT_EQ(static_cast<const float*>(history.at(r, past))[4], expected[r][past]);
  }
}

// Rows come and go: each one has its own first step, and what all of them have left behind them is forgotten.
TEST(StepHistory, TakesRowsUnderWay) {
  StepHistory history;
  std::vector<std::vector<float>> expected;
  for (int64_t step = 0; step < 200; ++step) {
    std::vector<int64_t> parents;  // every fifth step the oldest ends; every third another one begins
    for (int64_t r = step % 5 == 4 && expected.size() > 1 ? 1 : 0; r < std::ssize(expected); ++r) parents.push_back(r);
    if (step % 3 == 0) {
      history.join(StepHistory(), std::ssize(expected), 1);
      parents.push_back(std::ssize(expected));
      expected.emplace_back();
    }
    history.select(torch::tensor(at::ArrayRef<int64_t>(parents), torch::kInt64));
    const auto before = expected;
    expected.clear();
    for (const int64_t parent : parents) expected.push_back(before[parent]);
    const auto fresh = wave({std::ssize(expected), 5}, 1, static_cast<double>(step));
    history.push(fresh);
    for (int64_t r = 0; r < std::ssize(expected); ++r) {
      expected[r].push_back(fresh[r][4].item<float>());
      ASSERT_EQ(history.length(r), std::ssize(expected[r])) << "step " << step << " row " << r;
      for (int64_t past = 0; past < history.length(r); ++past)
        ASSERT_EQ(static_cast<const float*>(history.at(r, past))[4], expected[r][past]);
    }
  }
}

// Two searches become one, whichever has made more steps.
TEST(StepHistory, TakesTheRowsOfAnother) {
  for (const auto& [own_steps, other_steps] : {std::pair<int64_t, int64_t>{0, 3}, {40, 2}, {2, 40}, {5, 5}, {3, 0}}) {
    double start = 0;
    std::vector<std::vector<float>> expected;
    const auto with_steps = [&](int64_t rows, int64_t steps) {
      StepHistory history;
      const size_t first = expected.size();
      expected.resize(first + rows);
      for (int64_t step = 0; step < steps; ++step) {
        const auto fresh = wave({rows, 5}, 1, ++start);
        history.push(fresh);
        for (int64_t r = 0; r < rows; ++r) expected[first + r].push_back(fresh[r][4].item<float>());
      }
      return history;
    };
    auto history = with_steps(3, own_steps);
    history.join(with_steps(2, other_steps), 3, 2);
    for (const std::vector<int64_t>& parents : {std::vector<int64_t>{4, 0, 3, 1, 1}, {0, 3, 2}, {2}}) {
      const auto before = expected;
      expected.clear();
      for (const int64_t parent : parents) expected.push_back(before[parent]);
      history.select(torch::tensor(at::ArrayRef<int64_t>(parents), torch::kInt64));
      const auto fresh = wave({std::ssize(expected), 5}, 1, ++start);
      history.push(fresh);
      for (int64_t r = 0; r < std::ssize(expected); ++r) {
        expected[r].push_back(fresh[r][4].item<float>());
        ASSERT_EQ(history.length(r), std::ssize(expected[r])) << own_steps << " " << other_steps << " row " << r;
        for (int64_t past = 0; past < history.length(r); ++past)
          ASSERT_EQ(static_cast<const float*>(history.at(r, past))[4], expected[r][past]);
      }
    }
  }
}

}  // namespace
}  // namespace nmt::attention_step_test
