#include "search/search.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "search/batch_candidates.h"
#include "search/beams/beam_groups.h"
#include "search/hypothesis_attention.h"
#include "search/rules/token_bans.h"
#include "text/tokenizer.h"

namespace nmt {
namespace {

/// True if the rows of the next step are those of this one, in their order: then nothing moves.
bool stay(const std::vector<int64_t>& parents, int64_t rows) {
  if (std::ssize(parents) != rows) return false;
  for (int64_t row = 0; row < rows; ++row) {
    if (parents[row] != row) return false;
  }
  return true;
}

bool has_rules(const SearchInput& input) {
  return !input.prefix.empty() || !input.must_appear.empty() || !input.banned.empty();
}

/// A search under way.
class Search {
 public:
  Search(std::span<const SearchModel> models, SearchQueue& queue, int64_t batch_size, const SearchOptions& options)
      : models_(models),
        queue_(queue),
        batch_size_(batch_size),
        options_(options),
        group_options_(group_options(options)),
        needs_attention_(options.attention || options.coverage_penalty > 0),
        ruled_(has_bans(options) || options.repetition_penalty != 1),
        joins_(!needs_attention_ &&
               std::ranges::all_of(models, [](const auto& one) { return one.model->can_join(); })) {}

  void run() {
    while (fill()) {
      step();
      give_back();
    }
  }

 private:
  struct Sentence {
    Sentence(const Search& search, const SearchQueue::Item& taken, int64_t place)
        : item(taken), number(place), beams(search.options_, search.group_options_, *taken.input) {}
    SearchQueue::Item item;
    int64_t number;  // in its batch
    BeamGroups beams;
  };

  bool fill();
  void start(const std::vector<SearchQueue::Item>& items);
  void step();
  void give_back();
  void give_back_with_attention();

  std::span<const SearchModel> models_;
  SearchQueue& queue_;
  int64_t batch_size_;
  const SearchOptions& options_;
  SearchOptions group_options_;
  bool needs_attention_, ruled_, joins_;
  bool queue_is_empty_ = false;

  std::optional<SearchState> state_;
  std::optional<BatchCandidates> candidates_;        // of a batch
  std::vector<std::unique_ptr<Sentence>> active_;    // in the order of their rows
  std::vector<std::unique_ptr<Sentence>> finished_;  // that wait for the others of their batch
  NextRows rows_;                                    // of the next step
};

/// Takes sentences where there is room for them; false: all are done.
bool Search::fill() {
  // Few at a time: together their steps stay in step, and encoding them takes little memory.
  const int64_t portion = joins_ ? std::clamp<int64_t>(batch_size_ / 4, 1, 8) : batch_size_;
  while (!queue_is_empty_ && (joins_ || active_.empty()) && std::ssize(active_) + portion <= batch_size_) {
    auto items = queue_.take(portion);
    if (joins_ && !items.empty() && !items.front().input->candidates.empty()) {
      joins_ = false;
      std::ranges::move(queue_.take(batch_size_ - portion), std::back_inserter(items));
    }
    queue_is_empty_ = std::ssize(items) < portion;
    if (!items.empty()) start(items);
  }
  return !active_.empty();
}

void Search::start(const std::vector<SearchQueue::Item>& items) {
  std::vector<const SearchInput*> inputs;
  std::vector<const std::vector<std::vector<int32_t>>*> sources;
  for (const auto& item : items) {
    inputs.push_back(item.input);
    sources.push_back(&item.input->sources);
    ruled_ = ruled_ || has_rules(*item.input);
  }
  int64_t row = 0;
  if (active_.empty()) {
    state_.emplace(models_, options_.combination, sources);
  } else {
    row = state_->rows();
    state_->join(sources);
  }
  if (!inputs.front()->candidates.empty()) {
    candidates_.emplace(inputs, state_->device());
    state_->restrict_outputs(candidates_->tokens());
  }
  for (const auto& item : items) {
    auto sentence = std::make_unique<Sentence>(*this, item, &item - items.data());
    const int64_t beams = sentence->beams.count();  // one row for each at first
    rows_.parents.insert(rows_.parents.end(), beams, row++);
    rows_.tokens.insert(rows_.tokens.end(), beams, SpecialIds::kBegin);
    active_.push_back(std::move(sentence));
  }
}

void Search::step() {
  if (!stay(rows_.parents, state_->rows())) state_->select(rows_.parents);
  const auto logits = state_->member_logits(rows_.tokens);  // of each model [rows, vocabulary]
  std::vector<RowRules> rules;
  std::vector<double> uniforms;
  std::vector<BatchCandidates::Rows> owners;
  for (const auto& sentence : active_) {
    owners.push_back({.sentence = sentence->number, .count = sentence->beams.rows()});
    if (ruled_) sentence->beams.add_rules(rules);
    if (options_.sampling) sentence->beams.add_uniforms(uniforms);
  }
  // What the groups before have chosen may fill the places of beam_size less their own.
  const int64_t count = options_.beam_size + 1;
  StepScores scores;
  if (candidates_) {
    scores = candidates_->scores(*state_, logits, owners, rules, count, options_, uniforms);
  } else {
    auto together = state_->combined(logits);
    scores = step_scores(together, rules, count, options_, uniforms);
  }
  rows_ = {};
  int64_t first_row = 0;
  for (const auto& sentence : active_) {
    const int64_t own_rows = sentence->beams.rows();
    sentence->beams.advance(scores, first_row, rows_);
    first_row += own_rows;
  }
}

/// Sentences that are done leave the batch.
void Search::give_back() {
  const auto done = std::ranges::stable_partition(active_, [](const auto& one) { return !one->beams.done(); });
  std::ranges::move(done, std::back_inserter(finished_));
  active_.erase(done.begin(), done.end());
  if (needs_attention_) {
    if (active_.empty()) give_back_with_attention();
    return;
  }
  for (const auto& sentence : finished_) queue_.finish(sentence->item.id, sentence->beams.take_results());
  finished_.clear();
}

void Search::give_back_with_attention() {
  std::vector<const SearchInput*> inputs;
  std::vector<std::vector<Hypothesis>> results;
  for (const auto& sentence : finished_) {
    inputs.push_back(sentence->item.input);
    results.push_back(sentence->beams.take_results());
  }
  add_attention(models_.front(), inputs, options_, results);
  for (size_t i = 0; i < finished_.size(); ++i) queue_.finish(finished_[i]->item.id, std::move(results[i]));
  finished_.clear();
}

/// Sentences that are there from the beginning, and their results.
class ListQueue final : public SearchQueue {
 public:
  explicit ListQueue(std::span<const SearchInput> inputs) : inputs_(inputs), results_(inputs.size()) {}

  std::vector<Item> take(int64_t count) override {
    std::vector<Item> items;
    for (; std::ssize(items) < count && next_ < std::ssize(inputs_); ++next_) items.push_back({next_, &inputs_[next_]});
    return items;
  }
  void finish(int64_t id, std::vector<Hypothesis> hypotheses) override { results_[id] = std::move(hypotheses); }
  std::vector<std::vector<Hypothesis>> take_results() { return std::move(results_); }

 private:
  std::span<const SearchInput> inputs_;
  std::vector<std::vector<Hypothesis>> results_;
  int64_t next_ = 0;
};

}  // namespace

void search(std::span<const SearchModel> models, SearchQueue& queue, int64_t batch_size, const SearchOptions& options) {
  options.validate();
  Search(models, queue, batch_size, options).run();
}

std::vector<std::vector<Hypothesis>> search(std::span<const SearchModel> models, std::span<const SearchInput> inputs,
                                            const SearchOptions& options) {
  ListQueue queue(inputs);
  search(models, queue, std::max<int64_t>(1, std::ssize(inputs)), options);
  return queue.take_results();
}

std::vector<std::vector<Hypothesis>> search(TranslationModel& model, const std::vector<std::vector<int32_t>>& sources,
                                            const SearchOptions& options) {
  std::vector<SearchInput> inputs;
  for (const auto& source : sources) inputs.push_back({.sources = {source}});
  const SearchModel only{.model = &model};
  return search(std::span(&only, 1), inputs, options);
}

}  // namespace nmt
