#include "search/search.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "search/batch_candidates.h"
#include "search/beams.h"
#include "search/hypothesis_attention.h"
#include "search/logits_rules.h"
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

/// How many tokens a forced beginning has, the end of the sentence left out.
int64_t words(std::span<const int32_t> beginning) {
  const bool ends = !beginning.empty() && beginning.back() == SpecialIds::kEnd;
  return std::ssize(beginning) - (ends ? 1 : 0);
}

constexpr int64_t kAttentionAtOnce = 8;  // sentences that join a search and whose attention is computed together

/// A search under way.
class Search {
 public:
  Search(std::span<const SearchModel> models, SearchQueue& queue, int64_t batch_size, const SearchOptions& options)
      : models_(models),
        queue_(queue),
        batch_size_(batch_size),
        options_(options),
        group_options_(group_options(options)),
        rules_(options),
        needs_attention_(options.attention || options.coverage_penalty > 0),
        joins_(!needs_attention_ && std::ranges::all_of(models, [](const auto& one) {
          return one.model->capabilities().ragged_positions;
        })) {}

  void run() {
    while (!queue_.stopped()) {
      if (fill()) {
        step();
        give_back();
      } else if (!queue_.wait()) {
        break;
      }
    }
  }

 private:
  struct Sentence {
    Sentence(const Search& search, SearchQueue::Handle taken, int64_t place)
        : handle(std::move(taken)),
          number(place),
          beams(search.options_, search.group_options_, search.rules_, handle.request()) {}
    SearchQueue::Handle handle;
    int64_t number;  // in its batch
    BeamGroups beams;
  };

  bool fill();
  void start(std::vector<SearchQueue::Handle> taken);
  void feed_prefixes(SearchState& state, std::span<const std::unique_ptr<Sentence>> sentences, NextRows& rows);
  void step();
  enum class Drops { kNothing, kCancelled };
  NextRows advance(const SearchState& state, std::span<const std::unique_ptr<Sentence>> sentences,
                   std::vector<torch::Tensor> logits, Drops drops);
  void give_back();
  void give_back_with_attention();

  std::span<const SearchModel> models_;
  SearchQueue& queue_;
  int64_t batch_size_;
  const SearchOptions& options_;
  SearchOptions group_options_;
  LogitsRules rules_;
  bool needs_attention_, joins_;
  bool ruled_ = false;  // for a sentence there is something to be asked, by a rule or by the phrases that it must hold

  std::optional<SearchState> state_;
  std::optional<BatchCandidates> candidates_;        // of a batch
  std::vector<std::unique_ptr<Sentence>> active_;    // in the order of their rows
  std::vector<std::unique_ptr<Sentence>> finished_;  // whose attention is wanted: they wait for others
  NextRows rows_;                                    // of the next step
};

/// Takes sentences where there is space for them; false: there are none.
bool Search::fill() {
  // Few at a time: together their steps stay in step, and encoding them takes little memory.
  const int64_t portion = joins_ ? std::clamp<int64_t>(batch_size_ / 4, 1, 8) : batch_size_;
  for (bool more = true; more && (joins_ || active_.empty()) && std::ssize(active_) + portion <= batch_size_;) {
    auto taken = queue_.take(portion);
    if (joins_ && !taken.empty() && !taken.front().request().candidates.empty()) {
      joins_ = false;
      std::ranges::move(queue_.take(batch_size_ - portion), std::back_inserter(taken));
    }
    more = std::ssize(taken) >= portion;
    if (!taken.empty()) start(std::move(taken));
  }
  return !active_.empty();
}

void Search::start(std::vector<SearchQueue::Handle> taken) {
  std::vector<const SearchInput*> inputs;
  std::vector<const std::vector<std::vector<int32_t>>*> sources;
  for (const auto& handle : taken) {
    const SearchInput& input = handle.request();
    inputs.push_back(&input);
    sources.push_back(&input.sources);
    ruled_ = ruled_ || rules_.concern(input) || !input.must_appear.empty();
  }
  SearchState fresh(models_, options_.combination, sources);
  if (!inputs.front()->candidates.empty()) {
    candidates_.emplace(inputs, fresh.device());
    fresh.restrict_outputs(candidates_->tokens());
  }
  std::vector<std::unique_ptr<Sentence>> sentences;
  NextRows rows;
  for (auto& handle : taken) {
    const int64_t number = std::ssize(sentences);
    sentences.push_back(std::make_unique<Sentence>(*this, std::move(handle), number));
    const int64_t beams = sentences.back()->beams.count();  // one row for each at first
    rows.parents.insert(rows.parents.end(), beams, number);
    rows.tokens.insert(rows.tokens.end(), beams, SpecialIds::kBegin);
  }
  feed_prefixes(fresh, sentences, rows);
  std::erase_if(sentences, [](const auto& sentence) { return sentence->beams.done(); });  // cancelled
  if (sentences.empty()) return;
  int64_t first_row = 0;
  if (active_.empty()) {
    state_.emplace(std::move(fresh));
  } else {
    first_row = state_->rows();
    state_->join(std::move(fresh));
  }
  for (const int64_t parent : rows.parents) rows_.parents.push_back(first_row + parent);
  std::ranges::copy(rows.tokens, std::back_inserter(rows_.tokens));
  std::ranges::move(sentences, std::back_inserter(active_));
}

/// What all sentences are forced to begin with is fed in blocks (prefill), where that leaves the bits of single steps.
/// The last forced token is left to the next step.
void Search::feed_prefixes(SearchState& state, std::span<const std::unique_ptr<Sentence>> sentences, NextRows& rows) {
  constexpr int64_t kTokensAtOnce = 32;       // until cancellations are asked for
  constexpr int64_t kLogitsAtOnce = 1 << 24;  // bounds the memory
  if (!state.exact_prefill()) return;
  int64_t fed = 0, forced = std::numeric_limits<int64_t>::max();
  for (const auto& sentence : sentences) forced = std::min(forced, words(rules_.beginning(sentence->handle.request())));
  while (!rows.tokens.empty() && !queue_.stopped()) {
    const int64_t most = kLogitsAtOnce / (std::ssize(rows.tokens) * state.target_vocabulary());
    const int64_t count = std::min({forced - fed, kTokensAtOnce, most});
    if (count < 2) return;
    if (!stay(rows.parents, state.rows())) state.select(rows.parents);
    std::vector<int64_t> tokens;
    for (const auto& sentence : sentences) {
      for (int64_t row = 0; row < sentence->beams.rows(); ++row) {
        const auto beginning = rules_.beginning(sentence->handle.request()).subspan(fed, count - 1);
        tokens.push_back(rows.tokens[std::ssize(tokens) / count]);
        tokens.insert(tokens.end(), beginning.begin(), beginning.end());
      }
    }
    const auto logits = state.prefill_logits(tokens);
    for (int64_t token = 0; token < count; ++token) {
      std::vector<torch::Tensor> of_token;
      for (const auto& of_member : logits) of_token.push_back(of_member.select(1, token).contiguous());
      // Rows that left within a block would not be those of its next logits.
      const auto drops = token + 1 < count ? Drops::kNothing : Drops::kCancelled;
      rows = advance(state, sentences, std::move(of_token), drops);
    }
    fed += count;
  }
}

void Search::step() {
  if (!stay(rows_.parents, state_->rows())) state_->select(rows_.parents);
  rows_ = advance(*state_, active_, state_->member_logits(rows_.tokens), Drops::kCancelled);
}

/// The rows of the next step. logits: of each model [rows of the sentences, vocabulary].
NextRows Search::advance(const SearchState& state, std::span<const std::unique_ptr<Sentence>> sentences,
                         std::vector<torch::Tensor> logits, Drops drops) {
  std::vector<RowRules> rows;
  std::vector<double> uniforms;
  std::vector<BatchCandidates::Rows> owners;
  for (const auto& sentence : sentences) {
    owners.push_back({.sentence = sentence->number, .count = sentence->beams.rows()});
    if (ruled_) sentence->beams.add_rules(rows);
    if (options_.sampling) sentence->beams.add_uniforms(uniforms);
  }
  // What the groups before have chosen may fill the places of beam_size less their own.
  const int64_t count = options_.beam_size + 1;
  StepScores scores;
  if (candidates_) {
    scores = candidates_->scores(state, logits, owners, rules_, rows, count, options_, uniforms);
  } else {
    if (ruled_) rules_.change_each(logits, rows);
    auto together = state.combined(logits);
    if (ruled_) rules_.change(together, rows, {}, std::ssize(logits));
    scores = step_scores(together, rows, count, options_, uniforms);
  }
  NextRows next;
  int64_t first_row = 0;
  for (const auto& sentence : sentences) {
    const int64_t own_rows = sentence->beams.rows();
    if (drops == Drops::kCancelled && sentence->handle.cancelled()) {
      sentence->beams.cancel();
    } else {
      sentence->beams.advance(scores, first_row, next);
    }
    first_row += own_rows;
  }
  return next;
}

/// Sentences that are done leave the batch.
void Search::give_back() {
  const auto done = std::ranges::stable_partition(active_, [](const auto& one) { return !one->beams.done(); });
  for (auto& sentence : done) {
    if (sentence->handle.cancelled()) continue;
    if (needs_attention_ || sentence->handle.request().attention)
      finished_.push_back(std::move(sentence));
    else
      sentence->handle.finish(sentence->beams.take_results());
  }
  active_.erase(done.begin(), done.end());
  if (active_.empty() || (!needs_attention_ && std::ssize(finished_) >= kAttentionAtOnce)) give_back_with_attention();
}

void Search::give_back_with_attention() {
  if (finished_.empty()) return;
  std::vector<const SearchInput*> inputs;
  std::vector<std::vector<Hypothesis>> results;
  for (const auto& sentence : finished_) {
    inputs.push_back(&sentence->handle.request());
    results.push_back(sentence->beams.take_results());
  }
  SearchOptions options = options_;
  options.attention = options.attention || std::ranges::any_of(inputs, &SearchInput::attention);
  add_attention(models_.front(), inputs, options, results);
  for (size_t i = 0; i < finished_.size(); ++i) finished_[i]->handle.finish(std::move(results[i]));
  finished_.clear();
}

}  // namespace

void search(std::span<const SearchModel> models, SearchQueue& queue, int64_t batch_size, const SearchOptions& options) {
  options.validate();
  Search(models, queue, batch_size, options).run();
}

std::vector<std::vector<Hypothesis>> search(std::span<const SearchModel> models, std::span<const SearchInput> inputs,
                                            const SearchOptions& options) {
  ListQueue<SearchInput, std::vector<Hypothesis>> queue(inputs);
  search(models, queue, std::max<int64_t>(1, std::ssize(inputs)), options);
  std::vector<std::vector<Hypothesis>> results;
  for (auto& found : queue.results()) results.push_back(std::move(*found));
  return results;
}

std::vector<std::vector<Hypothesis>> search(TranslationModel& model, const std::vector<std::vector<int32_t>>& sources,
                                            const SearchOptions& options) {
  std::vector<SearchInput> inputs;
  for (const auto& source : sources) inputs.push_back({.sources = {source}});
  const SearchModel only{.model = &model};
  return search(std::span(&only, 1), inputs, options);
}

}  // namespace nmt
