#include "models/search/search_operations.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>
#include <vector>

#include "text/tokenizer.h"

namespace nmt {

BeamTensors BeamTensors::make(int64_t sentences, int64_t beam, int64_t capacity, torch::Device device) {
  const auto ints = torch::TensorOptions(torch::kInt32).device(device);
  const auto doubles = torch::TensorOptions(torch::kFloat64).device(device);
  const int64_t rows = sentences * beam;
  const auto sources = torch::zeros({sentences, 2}, ints);
  sources.select(1, 1).fill_(1);
  return {.beam = beam,
          .sentences = torch::zeros({sentences, kSentenceColumns}, ints),
          .sources = sources,
          .totals = torch::zeros({rows}, doubles),
          .words = torch::zeros({rows}, ints),
          .positions = torch::zeros({rows}, ints),
          .ancestors = torch::zeros({rows, capacity}, ints),
          .history = torch::zeros({rows, capacity, 3}, ints),
          .ended = torch::zeros({rows, kEndedColumns}, doubles),
          .penalties = torch::ones({capacity + 1}, doubles)};
}

BeamTensors BeamTensors::first(int64_t count) const {
  auto part = *this;
  for (auto* of_sentence : {&part.sentences, &part.sources}) *of_sentence = of_sentence->narrow(0, 0, count);
  for (auto* of_row : {&part.totals, &part.words, &part.positions, &part.ancestors, &part.history, &part.ended})
    *of_row = of_row->narrow(0, 0, count * beam);
  return part;
}

namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

/// One sentence's part of a step, as SentenceBeam has it.
class PlainChoice {
 public:
  PlainChoice(const BeamTensors& beams, int64_t sentence)
      : beams_(beams),
        first_(sentence * beams.beam),
        state_(beams.sentences.mutable_data_ptr<int32_t>() + sentence * kSentenceColumns),
        totals_(beams.totals.mutable_data_ptr<double>() + first_),
        ended_(beams.ended.mutable_data_ptr<double>() + first_ * kEndedColumns),
        penalties_(beams.penalties.const_data_ptr<double>()) {}

  bool runs() const { return state_[kStatus] == kRunning; }

  /// best, words [rows, count]: log-probabilities of the best words of each row, best first.
  void advance(const torch::Tensor& best, const torch::Tensor& words) {
    struct Extension {
      double total;
      int64_t parent;
      int32_t word;
      float log_probability;
    };
    std::vector<Extension> all;
    int32_t were_live = 0;
    bool damaged = false;
    for (int64_t parent = 0; parent < beams_.beam; ++parent) {
      if (totals_[parent] == kNothing) continue;
      ++were_live;
      const float* log_p = best.const_data_ptr<float>() + (first_ + parent) * best.size(1);
      const auto* word = words.const_data_ptr<int64_t>() + (first_ + parent) * best.size(1);
      damaged = damaged || !std::isfinite(log_p[0]);
      for (int64_t i = 0; i < best.size(1); ++i)
        if (std::isfinite(log_p[i]))
          all.push_back({totals_[parent] + log_p[i], parent, static_cast<int32_t>(word[i]), log_p[i]});
    }
    std::ranges::sort(all, {}, [](const Extension& one) { return std::tuple(-one.total, one.parent, one.word); });
    all.resize(std::min(std::ssize(all), 2 * beams_.beam));

    const int32_t length = state_[kLength];
    std::vector<Extension> chosen;
    for (int64_t rank = 0; rank < std::ssize(all); ++rank) {
      const auto& [total, parent, word, log_p] = all[rank];
      if (word != SpecialIds::kEnd) {
        if (std::ssize(chosen) < beams_.beam) chosen.push_back(all[rank]);
      } else if (rank < beams_.beam) {
        finish({total / penalties_[length + 1], total, log_p, static_cast<double>(length * kRanksOfStep + rank),
                static_cast<double>(parent)});
      }
    }
    const int32_t now = length + (chosen.empty() ? 0 : 1);
    const bool over = damaged || chosen.empty() || is_over(chosen.front().total, now);
    keep_ancestors(chosen, length, over);
    for (int64_t i = 0; i < beams_.beam; ++i) {
      const bool is_new = i < std::ssize(chosen);
      if (!chosen.empty())
        totals_[i] = is_new && !(may_prune() && !over && loses(chosen[i].total)) ? chosen[i].total : kNothing;
      beams_.words.mutable_data_ptr<int32_t>()[first_ + i] = over     ? SpecialIds::kPad
                                                             : is_new ? chosen[i].word
                                                                      : SpecialIds::kEnd;
      beams_.positions.mutable_data_ptr<int32_t>()[first_ + i] = over ? 0 : now;
    }
    state_[kStatus] = damaged ? kDamaged : over ? kDone : kRunning;
    state_[kLength] = now;
    state_[kLive] = !chosen.empty() ? static_cast<int32_t>(chosen.size()) : state_[kFinished] > 0 ? 0 : were_live;
  }

 private:
  using Ended = std::array<double, kEndedColumns>;

  // The best first.
  std::vector<double> finished_scores() const {
    std::vector<double> scores;
    for (int64_t i = 0; i < beams_.beam; ++i) scores.push_back(ended_[i * kEndedColumns + kScore]);
    std::ranges::sort(scores, std::ranges::greater());
    return scores;
  }

  // In place of the worst one, of equal ones the last.
  void finish(const Ended& hypothesis) {
    ++state_[kFinished];
    const auto rank = [&](int64_t i) {
      const double* one = ended_ + i * kEndedColumns;
      return std::tuple(one[kScore], -one[kArrival]);
    };
    int64_t worst = 0;
    for (int64_t i = 1; i < beams_.beam; ++i)
      if (rank(i) < rank(worst)) worst = i;
    if (hypothesis[kScore] > ended_[worst * kEndedColumns + kScore])
      std::ranges::copy(hypothesis, ended_ + worst * kEndedColumns);
  }

  bool length_counts() const { return penalties_[1] != penalties_[state_[kLimit]]; }
  bool loses(double total) const {
    return state_[kFinished] >= state_[kWanted] &&
           total / penalties_[state_[kLimit]] <= finished_scores()[state_[kWanted] - 1];
  }
  bool may_prune() const {
    return beams_.stopping != Stopping::kFirst && !(beams_.stopping == Stopping::kHeuristic && length_counts());
  }
  bool is_over(double best, int32_t now) const {
    if (now >= state_[kLimit] || loses(best)) return true;
    if (state_[kFinished] < beams_.beam) return false;
    if (beams_.beam == 1 || beams_.stopping == Stopping::kFirst) return true;
    return beams_.stopping == Stopping::kHeuristic && length_counts() &&
           best / penalties_[now] <= finished_scores().front();
  }

  template <typename Extension>
  void keep_ancestors(const std::vector<Extension>& chosen, int64_t length, bool over) {
    const auto before = beams_.ancestors.narrow(0, first_, beams_.beam).clone();
    auto* history = beams_.history.mutable_data_ptr<int32_t>();
    for (int64_t i = 0; i < std::ssize(chosen); ++i) {
      auto* entry = history + ((first_ + i) * beams_.capacity() + length) * 3;
      entry[0] = chosen[i].word;
      entry[1] = static_cast<int32_t>(chosen[i].parent);
      entry[2] = std::bit_cast<int32_t>(chosen[i].log_probability);
      if (over) continue;
      const auto* parent = before.template const_data_ptr<int32_t>() + chosen[i].parent * beams_.capacity();
      auto* own = beams_.ancestors.template mutable_data_ptr<int32_t>() + (first_ + i) * beams_.capacity();
      std::copy_n(parent, length, own);
      own[length] = static_cast<int32_t>(first_ + chosen[i].parent);
    }
  }

  const BeamTensors& beams_;
  int64_t first_;
  int32_t* state_;
  double* totals_;
  double* ended_;
  const double* penalties_;
};

class PlainOperations final : public SearchOperations {
 public:
  torch::Tensor embed(const BeamTensors& beams, const torch::Tensor& table, const torch::Tensor& positions,
                      double scale) override {
    const auto x = table.index_select(0, beams.words).to(torch::kFloat32) * scale;
    return (x + positions.index_select(0, beams.positions)).to(table.scalar_type());
  }

  Normalised normalise(const torch::Tensor& x, const torch::Tensor& r, const torch::Tensor& r_bias,
                       const SearchNorm& norm) override {
    const auto sum = r.defined() ? (x.to(torch::kFloat32) + r + r_bias).to(x.scalar_type()) : x;
    const auto wide = sum.to(torch::kFloat32);
    const auto centred = norm.centred ? wide - wide.mean(-1, true) : wide;
    const auto deviation = at::sqrt(centred.square().mean(-1, true) + norm.epsilon);
    return {sum, (centred / deviation * norm.weight + norm.bias).to(x.scalar_type())};
  }

  torch::Tensor attend_to_past(const torch::Tensor& qkv, const torch::Tensor& cache, const BeamTensors& beams,
                               int64_t heads) override {
    const int64_t rows = qkv.size(0), width = qkv.size(1) / 3, all_rows = cache.size(1);
    const auto row = at::arange(rows, beams.positions.options());
    cache.index_put_({beams.positions, row}, qkv.narrow(1, width, 2 * width));
    const auto place = at::arange(beams.capacity(), beams.positions.options()).unsqueeze(0);  // [1, capacity]
    const auto own = beams.positions.unsqueeze(1);                                            // [rows, 1]
    // Behind its position a row has keys that it does not look at.
    const auto from = at::where(place < own, beams.ancestors, row.unsqueeze(1));
    const auto past = cache.flatten(0, 1).index_select(0, (place * all_rows + from).flatten());
    const auto keys_and_values = past.view({rows, beams.capacity(), 2 * width});
    return attend(qkv.narrow(1, 0, width), keys_and_values, place <= own, heads);
  }

  torch::Tensor attend_to_source(const torch::Tensor& q, const torch::Tensor& keys_and_values, const BeamTensors& beams,
                                 int64_t heads) override {
    const auto sources = beams.sources.repeat_interleave(beams.beam, 0);  // [rows, 2]
    const auto words = sources.narrow(1, 1, 1);
    const auto place = at::arange(words.max().item<int64_t>(), words.options()).unsqueeze(0);
    const auto seen = place < words;
    const auto from = at::where(seen, sources.narrow(1, 0, 1) + place, 0);
    const auto own = keys_and_values.index_select(0, from.flatten()).view({q.size(0), place.size(1), -1});
    return attend(q, own, seen, heads);
  }

  void choose(const torch::Tensor& logits, int64_t vocabulary, const BeamTensors& beams) override {
    auto log_p = at::log_softmax(logits.narrow(1, 0, vocabulary).to(torch::kFloat32), -1);
    for (const int64_t word : {SpecialIds::kPad, SpecialIds::kBegin}) log_p.select(1, word).fill_(kNothing);
    const auto [sorted, order] = log_p.sort(/*stable=*/true, /*dim=*/-1, /*descending=*/true);
    const auto count = std::min(beams.beam + 1, vocabulary);
    const auto best = sorted.narrow(1, 0, count).cpu().contiguous(),
               words = order.narrow(1, 0, count).cpu().contiguous();
    auto here = beams;
    const auto each = [&](const auto& act) {
      act(here.sentences, beams.sentences);
      act(here.totals, beams.totals);
      act(here.words, beams.words);
      act(here.positions, beams.positions);
      act(here.ancestors, beams.ancestors);
      act(here.history, beams.history);
      act(here.ended, beams.ended);
      act(here.penalties, beams.penalties);
    };
    each([](auto& copy, const auto& original) { copy = original.cpu(); });
    for (int64_t sentence = 0; sentence < here.sentences.size(0); ++sentence)
      if (PlainChoice choice(here, sentence); choice.runs()) choice.advance(best, words);
    each([](const auto& copy, const auto& original) {
      if (!original.is_cpu()) original.copy_(copy);
    });
  }

 private:
  /// q [rows, width], keys and values [rows, positions, 2 width], seen bool [rows, positions].
  static torch::Tensor attend(const torch::Tensor& q, const torch::Tensor& keys_and_values, const torch::Tensor& seen,
                              int64_t heads) {
    const auto kv = keys_and_values.to(torch::kFloat32).unflatten(-1, {2 * heads, -1}).transpose(1, 2);
    const auto queries = q.to(torch::kFloat32).unflatten(-1, {heads, 1, -1});  // [rows, heads, 1, head_dim]
    const auto keys = kv.narrow(1, 0, heads), values = kv.narrow(1, heads, heads);
    auto scores = queries.matmul(keys.transpose(-2, -1)) / std::sqrt(static_cast<double>(q.size(1) / heads));
    scores = scores.masked_fill(seen.logical_not().unsqueeze(1).unsqueeze(1), kNothing);
    return scores.softmax(-1).matmul(values).flatten(1).to(q.scalar_type());
  }
};

}  // namespace

std::unique_ptr<SearchOperations> plain_search_operations() { return std::make_unique<PlainOperations>(); }

}  // namespace nmt
