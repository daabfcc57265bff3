#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "models/interface/model.h"
#include "models/tiny_batch.h"
#include "tensor_support.h"

/// What holds for a model of any architecture.
namespace nmt::test {

inline torch::Tensor full_logits(TranslationModel& model, const TensorBatch& batch) {
  ForwardContext no_dropout;
  return model.logits(model.forward(batch, no_dropout)).detach();  // [batch, target, vocabulary]
}

/// Logits of every position, the target fed token by token; rows beyond a sentence's end are fed padding.
inline torch::Tensor stepped_logits(TranslationModel& model, const TensorBatch& batch) {
  const torch::NoGradGuard no_grad;
  const auto state = model.start(batch.source, batch.source_lengths);
  std::vector<torch::Tensor> steps;
  for (int64_t t = 0; t < batch.target_in.size(1); ++t)
    steps.push_back(model.step(*state, batch.target_in.select(1, t).contiguous()));
  return torch::stack(steps, 1);
}

/// [batch, target, ...] -> [real tokens, ...]
inline torch::Tensor real_rows(const torch::Tensor& x, const TensorBatch& batch) {
  return x.flatten(0, 1).index_select(0, batch.target_out.flatten().nonzero().squeeze(-1));
}

/// Step by step a model gives the logits of the full pass, that of training as well as that of validation.
inline void expect_steps_of_the_full_pass(TranslationModel& model, const std::vector<Pair>& pairs, torch::Device device,
                                          double tolerance) {
  const auto batch = to_tensors(batch_of(pairs), device);
  const auto full = real_rows(full_logits(model, batch), batch);
  EXPECT_GT(full.std().item<double>(), 0.01);
  expect_close(real_rows(stepped_logits(model, batch), batch), full, tolerance, device.str());
  const torch::NoGradGuard no_grad;
  expect_close(real_rows(full_logits(model, batch), batch), full, tolerance, device.str());
}

/// A sentence has the same bits alone and among others, with padding after it.
inline void expect_steps_as_alone(TranslationModel& model, const std::vector<Pair>& pairs) {
  constexpr int64_t kCopies = 9;  // ATen computes whole vectors, of up to 16 rows, otherwise than what is left over
  std::vector<Pair> copies;
  for (int64_t copy = 0; copy < kCopies; ++copy) copies.insert(copies.end(), pairs.begin(), pairs.end());
  const auto together = stepped_logits(model, to_tensors(batch_of(copies, 17), torch::kCPU));
  for (int64_t i = 0; i < std::ssize(pairs); ++i) {
    const auto alone = stepped_logits(model, to_tensors(batch_of({pairs[i]}), torch::kCPU))[0];
    for (int64_t row = i; row < std::ssize(copies); row += std::ssize(pairs))
      EXPECT_TRUE(together[row].narrow(0, 0, alone.size(0)).equal(alone)) << "sentence " << i << ", row " << row;
  }
}

/// In training a padded batch gives the logits of its sentences.
inline void expect_full_pass_as_alone(TranslationModel& model, const std::vector<Pair>& pairs, torch::Device device) {
  const auto together = full_logits(model, to_tensors(batch_of(pairs, 13, 23), device));
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto alone = full_logits(model, to_tensors(batch_of({pairs[i]}), device))[0];
    expect_close(together[static_cast<int64_t>(i)].narrow(0, 0, alone.size(0)), alone, 1e-5, device.str());
  }
}

/// What a row of a search has seen: a sentence and the tokens fed.
struct RowHistory {
  int64_t sentence;
  std::vector<int64_t> tokens;
};

inline torch::Tensor replay(TranslationModel& model, const Pair& pair, const RowHistory& history,
                            torch::Device device) {
  const auto batch = to_tensors(batch_of({pair}), device);
  const auto state = model.start(batch.source, batch.source_lengths);
  torch::Tensor logits;
  for (const int64_t token : history.tokens)
    logits = model.step(*state, torch::tensor({token}, torch::kInt64).to(device));
  return logits[0];
}

/// The same of several rows at once, whose histories have one length: [rows, vocabulary].
inline torch::Tensor replay_together(TranslationModel& model, const std::vector<Pair>& pairs,
                                     const std::vector<RowHistory>& rows, torch::Device device) {
  std::vector<Pair> of_rows;
  for (const auto& row : rows) of_rows.push_back(pairs[row.sentence]);
  const auto batch = to_tensors(batch_of(of_rows), device);
  const auto state = model.start(batch.source, batch.source_lengths);
  torch::Tensor logits;
  for (size_t t = 0; t < rows.front().tokens.size(); ++t) {
    std::vector<int64_t> tokens;
    for (const auto& row : rows) tokens.push_back(row.tokens[t]);
    logits = model.step(*state, torch::tensor(at::ArrayRef<int64_t>(tokens), torch::kInt64).to(device));
  }
  return logits;
}

/// After DecoderState::select a row continues as if it had been alone from its start; with a few more steps after each
/// selection, past the first capacity of a cache. Takes four pairs with tokens below 17.
inline void expect_selected_rows_continue(TranslationModel& model, const std::vector<Pair>& pairs, torch::Device device,
                                          int steps_each, bool same_bits) {
  const torch::NoGradGuard no_grad;
  // Before the first step, repeated, reordered, left out, left as they are, down to one, all of one sentence.
  const std::vector<std::vector<int64_t>> selections = {{2, 0, 1, 3}, {0, 0, 1, 1, 3, 2}, {5, 1, 0}, {0, 1, 2}, {1, 2},
                                                        {1},          {0, 0, 0}};
  const auto batch = to_tensors(batch_of(pairs), device);
  const auto state = model.start(batch.source, batch.source_lengths);
  std::vector<RowHistory> rows = {{0, {}}, {1, {}}, {2, {}}, {3, {}}};
  int64_t fed = 0;
  for (const auto& selection : selections) {
    state->select(torch::tensor(at::ArrayRef<int64_t>(selection), torch::kInt64));
    std::vector<RowHistory> chosen;
    for (const int64_t row : selection) chosen.push_back(rows[row]);
    rows = chosen;
    ASSERT_EQ(state->rows(), std::ssize(rows));
    for (int step = 0; step < steps_each; ++step) {
      std::vector<int64_t> tokens;
      for (auto& row : rows) {
        tokens.push_back(4 + ++fed * 5 % 13);
        row.tokens.push_back(tokens.back());
      }
      const auto logits = model.step(*state, torch::tensor(at::ArrayRef<int64_t>(tokens), torch::kInt64).to(device));
      if (step != 0) continue;  // comparing the first step after each selection is enough, and cheap
      if (!same_bits) {
        expect_close(logits, replay_together(model, pairs, rows, device), 1e-4);
        continue;
      }
      for (size_t r = 0; r < rows.size(); ++r) {
        const auto expected = replay(model, pairs[rows[r].sentence], rows[r], device);
        EXPECT_TRUE(logits[static_cast<int64_t>(r)].equal(expected)) << "row " << r;
      }
    }
  }
}

/// Sentences that join a search under way, while others leave it, have the bits that they have alone. Takes four pairs
/// with tokens below 17.
inline void expect_joined_rows_as_alone(TranslationModel& model, const std::vector<Pair>& pairs) {
  const torch::NoGradGuard no_grad;
  ASSERT_TRUE(model.capabilities().ragged_positions);
  const auto start = [&](std::vector<Pair> sentences) {
    const auto batch = to_tensors(batch_of(sentences), torch::kCPU);
    return model.start(batch.source, batch.source_lengths);
  };
  const auto state = start({pairs[0], pairs[1]});
  std::vector<RowHistory> rows = {{0, {}}, {1, {}}};
  int64_t fed = 0;
  for (int step = 0; step < 40; ++step) {
    if (step % 3 == 2) {  // before the selection, as a search does it
      const int64_t first = step % 2 == 0 ? 2 : 0;
      state->join(start({pairs[first], pairs[first + 1]}));
      rows.push_back({first, {}});
      rows.push_back({first + 1, {}});
      std::vector<int64_t> kept;  // the oldest row ends where there are many; the newest sentence has two hypotheses
      for (int64_t row = rows.size() > 5 ? 3 : 0; row < std::ssize(rows); ++row) kept.push_back(row);
      kept.push_back(std::ssize(rows) - 1);
      state->select(torch::tensor(at::ArrayRef<int64_t>(kept), torch::kInt64));
      std::vector<RowHistory> chosen;
      for (const int64_t row : kept) chosen.push_back(rows[row]);
      rows = chosen;
    }
    ASSERT_EQ(state->rows(), std::ssize(rows));
    std::vector<int64_t> tokens;
    for (auto& row : rows) {
      tokens.push_back(4 + ++fed * 5 % 13);
      row.tokens.push_back(tokens.back());
    }
    const auto logits = model.step(*state, torch::tensor(at::ArrayRef<int64_t>(tokens), torch::kInt64));
    for (size_t r = 0; r < rows.size() && step % 4 == 3; ++r)
      EXPECT_TRUE(logits[static_cast<int64_t>(r)].equal(replay(model, pairs[rows[r].sentence], rows[r], torch::kCPU)))
          << "step " << step << " row " << r;
  }
}

/// From now on searches have static caches; false: the model cannot do that.
inline bool use_static_caches(TranslationModel& model) {
  if (model.capabilities().static_positions == 0) return false;
  model.set_cache_form(CacheForm::kStatic);
  return true;
}

/// n tokens that are fed at once give the logits of n single steps, whatever stands before and after them: the same
/// bits where the model says so.
inline void expect_prefill_of_single_steps(TranslationModel& model, const std::vector<Pair>& pairs,
                                           torch::Device device) {
  const torch::NoGradGuard no_grad;
  const auto batch = to_tensors(batch_of(pairs, 17, 36), device);  // beyond the first capacity of a cache
  const auto expected = stepped_logits(model, batch);              // [rows, time, vocabulary]
  const auto compare = [&](const torch::Tensor& found, const torch::Tensor& single) {
    if (model.capabilities().exact_prefill)
      EXPECT_TRUE(found.equal(single));
    else
      expect_close(found, single, 1e-4);
  };
  for (const auto& parts : std::vector<std::vector<int64_t>>{{35, 1}, {1, 33, 1, 1}, {3, 4, 29}}) {
    const auto each = model.start(batch.source, batch.source_lengths),
               last = model.start(batch.source, batch.source_lengths);
    int64_t fed = 0;
    for (const int64_t count : parts) {
      const auto tokens = batch.target_in.narrow(1, fed, count);
      compare(model.step(*each, tokens, StepLogits::kEach), expected.narrow(1, fed, count));
      fed += count;
      compare(model.step(*last, tokens), expected.select(1, fed - 1));
    }
  }
}

/// Two searches become one, whichever has been fed more tokens. Takes four pairs with tokens below 17.
inline void expect_prefilled_rows_join(TranslationModel& model, const std::vector<Pair>& pairs) {
  const torch::NoGradGuard no_grad;
  int64_t fed = 0;
  for (const auto& [own, other] : {std::pair<int64_t, int64_t>{0, 4}, {2, 5}, {5, 2}, {3, 0}, {3, 3}}) {
    std::vector<RowHistory> rows;
    // `tokens` more for each row from `first` on.
    const auto feed = [&](DecoderState& state, size_t first, int64_t tokens) {
      std::vector<int64_t> ids;
      for (size_t row = first; row < rows.size(); ++row) {
        for (int64_t i = 0; i < tokens; ++i) {
          ids.push_back(4 + ++fed * 5 % 13);
          rows[row].tokens.push_back(ids.back());
        }
      }
      return model.step(state, torch::tensor(at::ArrayRef<int64_t>(ids), torch::kInt64).view({-1, tokens}));
    };
    const auto start = [&](int64_t first, int64_t tokens) {
      const auto batch = to_tensors(batch_of({pairs[first], pairs[first + 1]}), torch::kCPU);
      auto state = model.start(batch.source, batch.source_lengths);
      for (int64_t i = 0; i < 2; ++i) rows.push_back({first + i, {}});
      if (tokens > 0) feed(*state, rows.size() - 2, tokens);
      return state;
    };
    const auto state = start(0, own);
    state->join(start(2, other));
    const std::vector<int64_t> parents = {3, 0, 2, 2};
    state->select(torch::tensor(at::ArrayRef<int64_t>(parents), torch::kInt64));
    std::vector<RowHistory> chosen;
    for (const int64_t parent : parents) chosen.push_back(rows[parent]);
    rows = chosen;
    for (const int64_t tokens : {1, 3}) {
      const auto logits = feed(*state, 0, tokens);
      for (size_t r = 0; r < rows.size(); ++r)
        EXPECT_TRUE(logits[static_cast<int64_t>(r)].equal(replay(model, pairs[rows[r].sentence], rows[r], torch::kCPU)))
            << own << " " << other << " row " << r;
    }
  }
}

}  // namespace nmt::test
