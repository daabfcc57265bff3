#include "search/search.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "search/beams.h"
#include "search/logits_rules.h"
#include "search/searches_by_itself.h"
#include "text/tokenizer.h"

namespace nmt {
namespace {

/// How many tokens a forced beginning has, the end of the sentence left out.
int64_t words(std::span<const int32_t> beginning) {
  const bool ends = !beginning.empty() && beginning.back() == SpecialIds::kEnd;
  return std::ssize(beginning) - (ends ? 1 : 0);
}

constexpr int64_t kAttentionAtOnce = 8;  // sentences that join a search and whose attention is computed together

/// A search under way.
class Search {
 public:
  Search(DecodingModel& model, SearchQueue& queue, int64_t batch_size, const SearchOptions& options)
      : model_(model),
        queue_(queue),
        batch_size_(batch_size),
        options_(options),
        group_options_(group_options(options)),
        rules_(options),
        needs_attention_(options.attention || options.coverage_penalty > 0),
        joins_(!needs_attention_ && model.joins()) {}

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
    Sentence(const Search& search, SearchQueue::Handle taken)
        : handle(std::move(taken)), beams(search.options_, search.group_options_, search.rules_, handle.request()) {}
    SearchQueue::Handle handle;
    BeamGroups beams;
  };

  bool fill();
  void start(std::vector<SearchQueue::Handle> taken);
  void feed_prefixes(DecodingStep& step, std::span<const std::unique_ptr<Sentence>> sentences, StepInput& rows);
  void step();
  enum class Drops { kNothing, kCancelled };
  StepInput advance(DecodingStep& step, std::span<const std::unique_ptr<Sentence>> sentences, int64_t token,
                    Drops drops, std::span<const int64_t> shared = {});
  StepInput shared(const StepInput& rows);
  void give_back();
  void give_back_with_attention();

  DecodingModel& model_;
  SearchQueue& queue_;
  int64_t batch_size_;
  const SearchOptions& options_;
  SearchOptions group_options_;
  LogitsRules rules_;
  bool needs_attention_, joins_;
  bool ruled_ = false;  // for a sentence there is something to be asked, by a rule or by the phrases that it must hold

  std::unique_ptr<DecodingStep> step_;
  std::vector<std::unique_ptr<Sentence>> active_;    // in the order of their rows
  std::vector<std::unique_ptr<Sentence>> finished_;  // whose attention is wanted: they wait for others
  StepInput rows_;                                   // of the next step
  std::vector<int64_t> shared_;                      // with sampling: for each row of these sentences, that of the step
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
  for (const auto& handle : taken) {
    const SearchInput& input = handle.request();
    inputs.push_back(&input);
    ruled_ = ruled_ || rules_.concern(input) || !input.must_appear.empty();
  }
  auto fresh = model_.start(inputs, options_, rules_);
  std::vector<std::unique_ptr<Sentence>> sentences;
  StepInput rows;
  for (auto& handle : taken) {
    const int64_t number = std::ssize(sentences);
    sentences.push_back(std::make_unique<Sentence>(*this, std::move(handle)));
    const int64_t beams = sentences.back()->beams.count();  // one row for each at first
    rows.ancestors.insert(rows.ancestors.end(), beams, number);
    rows.tokens.insert(rows.tokens.end(), beams, SpecialIds::kBegin);
  }
  feed_prefixes(*fresh, sentences, rows);
  std::erase_if(sentences, [](const auto& sentence) { return sentence->beams.done(); });  // cancelled
  if (sentences.empty()) return;
  int64_t first_row = 0;
  const int64_t own_rows = fresh->rows();
  if (active_.empty()) {
    step_ = std::move(fresh);
    shared_.clear();
  } else {
    first_row = options_.sampling ? std::ssize(shared_) : step_->rows();
    step_->join(std::move(fresh));
  }
  if (options_.sampling)
    for (int64_t row = step_->rows() - own_rows; row < step_->rows(); ++row) shared_.push_back(row);
  for (const int64_t row : rows.ancestors) rows_.ancestors.push_back(first_row + row);
  std::ranges::copy(rows.tokens, std::back_inserter(rows_.tokens));
  std::ranges::move(sentences, std::back_inserter(active_));
}

/// What all sentences are forced to begin with is fed in blocks (prefill), where that leaves the bits of single steps.
/// The last forced token is left to the next step.
void Search::feed_prefixes(DecodingStep& step, std::span<const std::unique_ptr<Sentence>> sentences, StepInput& rows) {
  constexpr int64_t kTokensAtOnce = 32;       // until cancellations are asked for
  constexpr int64_t kLogitsAtOnce = 1 << 24;  // bounds the memory
  if (!model_.exact_blocks()) return;
  int64_t fed = 0, forced = std::numeric_limits<int64_t>::max();
  for (const auto& sentence : sentences) forced = std::min(forced, words(rules_.beginning(sentence->handle.request())));
  while (!rows.tokens.empty() && !queue_.stopped()) {
    const int64_t most = kLogitsAtOnce / (std::ssize(rows.tokens) * model_.target_vocabulary());
    const int64_t count = std::min({forced - fed, kTokensAtOnce, most});
    if (count < 2) return;
    StepInput block{.ancestors = rows.ancestors, .tokens = {}};
    for (const auto& sentence : sentences) {
      for (int64_t row = 0; row < sentence->beams.rows(); ++row) {
        const auto beginning = rules_.beginning(sentence->handle.request()).subspan(fed, count - 1);
        block.tokens.push_back(rows.tokens[std::ssize(block.tokens) / count]);
        block.tokens.insert(block.tokens.end(), beginning.begin(), beginning.end());
      }
    }
    step.feed(block);
    for (int64_t token = 0; token < count; ++token) {
      // Rows that left within a block would not be those of its next logits.
      const auto drops = token + 1 < count ? Drops::kNothing : Drops::kCancelled;
      rows = advance(step, sentences, token, drops);
    }
    fed += count;
  }
}

void Search::step() {
  if (!options_.sampling) {
    step_->feed(rows_);
    rows_ = advance(*step_, active_, 0, Drops::kCancelled);
    return;
  }
  step_->feed(shared(rows_));
  const bool is_shared = std::ssize(shared_) > step_->rows();
  rows_ = advance(*step_, active_, 0, Drops::kCancelled, is_shared ? shared_ : std::span<const int64_t>());
}

/// What the step is fed for samples: those of a sentence that begin alike have one row, whose logits are the same.
StepInput Search::shared(const StepInput& rows) {
  const bool may_share = !ruled_ && active_.front()->handle.request().candidates.empty();
  StepInput distinct;
  std::map<std::pair<int64_t, int64_t>, int64_t> known;  // ancestor and token -> row
  std::vector<int64_t> own;
  for (size_t i = 0; i < rows.tokens.size(); ++i) {
    const int64_t ancestor = shared_[rows.ancestors[i]], next = std::ssize(distinct.tokens);
    const auto [place, is_new] = known.emplace(std::pair(ancestor, rows.tokens[i]), next);
    own.push_back(may_share ? place->second : next);
    if (may_share && !is_new) continue;
    distinct.ancestors.push_back(ancestor);
    distinct.tokens.push_back(rows.tokens[i]);
  }
  shared_ = std::move(own);
  return distinct;
}

/// The rows of the next step, after one of the tokens that those of the sentences were fed.
StepInput Search::advance(DecodingStep& step, std::span<const std::unique_ptr<Sentence>> sentences, int64_t token,
                          Drops drops, std::span<const int64_t> shared) {
  std::vector<RowRules> rows;
  std::vector<double> uniforms;
  for (const auto& sentence : sentences) {
    if (ruled_) sentence->beams.add_rules(rows);
    if (options_.sampling) sentence->beams.add_uniforms(uniforms);
  }
  // What the groups before have chosen may fill the places of beam_size less their own.
  const int64_t count = options_.beam_size + 1;
  const auto scores =
      step.scores({.token = token, .rules = rows, .uniforms = uniforms, .rows = shared, .count = count});
  StepInput next;
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
  const auto done =
      std::stable_partition(active_.begin(), active_.end(), [](const auto& one) { return !one->beams.done(); });
  for (auto& sentence : std::span(done, active_.end())) {
    if (sentence->handle.cancelled()) continue;
    if (needs_attention_ || sentence->handle.request().attention)
      finished_.push_back(std::move(sentence));
    else
      sentence->handle.finish(sentence->beams.take_results());
  }
  active_.erase(done, active_.end());
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
  model_.add_attention(inputs, options, results);
  for (size_t i = 0; i < finished_.size(); ++i) finished_[i]->handle.finish(std::move(results[i]));
  finished_.clear();
}

}  // namespace

void search(DecodingModel& model, SearchQueue& queue, int64_t batch_size, const SearchOptions& options) {
  options.validate();
  auto* own = dynamic_cast<SearchesByItself*>(&model);
  if (!own || !own->search_by_itself(queue, batch_size, options)) Search(model, queue, batch_size, options).run();
}

}  // namespace nmt
