#include "translation/lines/line_jobs.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/threads.h"
#include "translation/lines/loops.h"
#include "translation/lines/minimum_bayes_risk.h"
#include "translation/lines/word_alignment.h"

namespace nmt {
namespace {

/// A vocabulary may hold line ends (byte fallback, user-defined symbols); an output line may not.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

void append(Alternative& whole, const Alternative& part) {
  if (!whole.text.empty() && !part.text.empty()) whole.text += ' ';
  whole.text += part.text;
  whole.log_probability += part.log_probability;
  whole.coverage_penalty += part.coverage_penalty;
  whole.tokens += part.tokens;
  whole.finished = whole.finished && part.finished;
  whole.meets_constraints = whole.meets_constraints && part.meets_constraints;
  whole.token_log_probabilities.insert(whole.token_log_probabilities.end(), part.token_log_probabilities.begin(),
                                       part.token_log_probabilities.end());
  whole.parts.insert(whole.parts.end(), part.parts.begin(), part.parts.end());
}

/// Joins the alternatives of a line's next part. A part with fewer of them gives its last one to those that it lacks.
void append(std::vector<Alternative>& whole, std::vector<Alternative> part) {
  if (whole.empty()) {
    whole = std::move(part);
    return;
  }
  const size_t count = std::max(whole.size(), part.size());
  // A copy of all that came before is made where one is needed only: a line may have thousands of parts.
  while (whole.size() < count) whole.push_back(Alternative(whole.back()));
  while (part.size() < count) part.push_back(Alternative(part.back()));
  for (size_t i = 0; i < count; ++i) append(whole[i], part[i]);
}

/// Sums of parts have another order than the parts. As the search has it: finished ones, those that have all that must
/// be there, then by the score.
void best_first(std::vector<Alternative>& alternatives) {
  std::ranges::stable_sort(alternatives, std::greater<>(), [](const Alternative& one) {
    return std::tuple(one.finished, one.meets_constraints, one.score);
  });
}

/// The search tells translations apart by their pieces: of those with one text the best stays. (Each sample stays.)
void drop_repeated(std::vector<Alternative>& alternatives) {
  std::set<std::string> texts;
  std::erase_if(alternatives, [&](const Alternative& one) { return !texts.insert(one.text).second; });
}

/// The tag of the target language is told, and no part of the translation.
void drop_tag(std::optional<int32_t> tag, int64_t source_pieces, Hypothesis& hypothesis) {
  if (!tag || hypothesis.ids.empty() || hypothesis.ids.front() != *tag) return;
  auto &scores = hypothesis.token_log_probabilities, &attention = hypothesis.attention;
  hypothesis.ids.erase(hypothesis.ids.begin());
  scores.erase(scores.begin());
  if (!attention.empty()) attention.erase(attention.begin(), attention.begin() + source_pieces);
}

/// Puts back what was cut out.
void restore(const LineJob& job, const TextCodec& codec, bool aligns, Alternative& alternative) {
  AlignedTranslation translation{.text = alternative.text};
  if (aligns) {
    const auto words = word_attention(codec, job.plan.text(), alternative);
    translation.alignment = aligned_words(words, job.plan.text(), alternative.text);
  }
  auto restored = job.plan.restored(translation);
  alternative.cut = {job.plan.text(), std::move(alternative.text)};
  alternative.text = std::move(restored.text);
  if (aligns) alternative.aligned = std::move(restored.alignment);
  if (!job.plan.has_constraints(alternative.text)) alternative.meets_constraints = false;
}

}  // namespace

Alternative to_alternative(const TextCodec& codec, const std::vector<int32_t>& source, Hypothesis hypothesis) {
  drop_tag(codec.target_tag(), std::ssize(source), hypothesis);
  return {.text = one_line(codec.decode_target(hypothesis.ids)),
          .log_probability = hypothesis.log_probability,
          .coverage_penalty = hypothesis.coverage_penalty,
          .score = hypothesis.score,
          .tokens = std::ssize(hypothesis.token_log_probabilities),
          .finished = hypothesis.finished,
          .meets_constraints = hypothesis.meets_constraints,
          .token_log_probabilities = std::move(hypothesis.token_log_probabilities),
          .parts = {{.source = source,
                     .target = std::move(hypothesis.ids),
                     .finished = hypothesis.finished,
                     .attention = std::move(hypothesis.attention)}}};
}

void compose(LineJob& job, const TextCodec& codec, const SearchOptions& options, bool aligns) {
  auto& [text, alternatives, source_tokens, target_tokens, split, loop, prefix_is_cut, grid] = job.result;
  alternatives.clear();
  for (auto& part : job.parts) {
    std::vector<Alternative> own;
    for (auto& hypothesis : part.hypotheses) {
      own.push_back(to_alternative(codec, part.input.sources.front(), std::move(hypothesis)));
      own.back().parts.front().repeated = part.repeated;
      if (part.misses_a_constraint) own.back().meets_constraints = false;
    }
    append(alternatives, std::move(own));
  }
  if (!job.plan.has_words()) alternatives = {{.text = job.plan.text()}};
  if (alternatives.empty()) return;
  if (alternatives.front().parts.size() > 1) {
    for (auto& whole : alternatives)
      whole.score = whole.log_probability / options.penalty(whole.tokens) + whole.coverage_penalty;
    if (!options.sampling) best_first(alternatives);
  }
  if (job.request.copy_unknown)  // before anything is put back: the model has read the rest
    copy_unknown_words(codec, job.plan.has_cuts() ? job.plan.text() : job.request.source, job.result);
  if (job.plan.has_cuts()) {
    for (auto& one : alternatives) restore(job, codec, aligns && job.plan.has_words(), one);
    if (!options.sampling)
      best_first(alternatives);  // what was put back may hold the phrases that must stand there, or not
  }
  if (job.by_risk) {
    rank_by_risk(alternatives, options);
    if (std::ssize(alternatives) > job.request.n_best) alternatives.resize(static_cast<size_t>(job.request.n_best));
  }
  if (!options.sampling) drop_repeated(alternatives);
  loop = job.retried || is_loop(alternatives.front());
  text = alternatives.front().text;
  target_tokens = alternatives.front().tokens;
  if (aligns) add_words(codec, job.request, job.result);
  if (job.request.attention || options.attention) return;
  for (auto& one : alternatives)  // it may be large, and results wait for those of other lines
    for (auto& part : one.parts) part.attention = {};
}

void PartQueue::add(std::vector<TranslationQueue::Handle> handles, int64_t first_number, int64_t threads) {
  constexpr int64_t kLinesOfAThread = 64;
  std::vector<std::shared_ptr<Line>> lines(handles.size());
  parallel_for(std::ssize(handles), kLinesOfAThread, static_cast<int>(threads), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) lines[i] = begun(std::move(handles[i]), first_number + i);
  });
  for (const auto& line : lines) {
    if (!line) continue;
    if (line->job.parts.empty())
      finish(line);
    else
      add_parts(line);
  }
}

std::shared_ptr<PartQueue::Line> PartQueue::begun(TranslationQueue::Handle handle, int64_t number) {
  auto line = std::make_shared<Line>(Line{.handle = std::move(handle), .job = {.number = number}});
  line->job.request = line->handle.request();
  line->job.stopped = [this, &own = line->handle] { return own.cancelled() || (calls_.stopped && calls_.stopped()); };
  try {
    steps_.begin(line->job);
  } catch (const TranslationStopped&) {
    if (!line->handle.cancelled()) throw;
    return nullptr;
  }
  return line;
}

void PartQueue::add_parts(const std::shared_ptr<Line>& line) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  line->parts_left = std::ssize(line->job.parts);
  for (auto& part : line->job.parts) ready_.push_back({line, &part});
}

void PartQueue::sort() {
  std::ranges::stable_sort(ready_, std::ranges::greater(),
                           [](const Part& one) { return one.part->input.sources.front().size(); });
}

std::vector<SearchQueue::Handle> PartQueue::take(int64_t count) {
  // What is taken at once is encoded at once, and no cancellation is noticed meanwhile: of very long lines few are
  // taken.
  constexpr int64_t kManyPieces = 4096;
  std::vector<Part> parts;
  int64_t pieces = 0;
  const auto take_ready = [&] {
    const std::lock_guard lock(mutex_);
    while (!ready_.empty() && std::ssize(parts) < count && pieces < kManyPieces) {
      parts.push_back(std::move(ready_.front()));
      ready_.pop_front();
      if (parts.back().line->handle.cancelled()) {
        parts.pop_back();
      } else {
        pieces += std::ssize(parts.back().part->input.sources.front());
      }
    }
    return !closed_ && std::ssize(parts) < count && pieces < kManyPieces;
  };
  if (take_ready() && lines_) {
    const int64_t even_share = (lines_->waiting() + threads_ - 1) / threads_;
    const int64_t wanted = std::min(count - std::ssize(parts), even_share);
    if (wanted > 0) add(lines_->take(wanted));
    take_ready();
  }
  std::vector<Handle> taken;
  for (const Part& part : parts)
    taken.emplace_back(part.part->input, part.line->handle.stop(), [this, part](auto&& hypotheses) {
      if (hypotheses) return found(part, std::move(*hypotheses));
      if (!part.line->handle.cancelled()) close();
    });
  return taken;
}

bool PartQueue::wait() {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    if (!ready_.empty()) return true;
  }
  return lines_ && lines_->wait();
}

int64_t PartQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return std::ssize(ready_);
}

bool PartQueue::stopped() {
  if (calls_.stopped && calls_.stopped()) throw TranslationStopped();
  return false;
}

void PartQueue::found(const Part& part, std::vector<Hypothesis> hypotheses) try {
  part.part->hypotheses = std::move(hypotheses);
  {
    const std::lock_guard lock(mutex_);
    if (--part.line->parts_left > 0) return;
  }
  finish(part.line);
} catch (...) {
  close();
  throw;
}

/// All of its parts are there: it is this thread's alone.
void PartQueue::finish(const std::shared_ptr<Line>& line) {
  try {
    if (!steps_.finish(line->job)) return add_parts(line);
  } catch (const TranslationStopped&) {  // as it was begun again
    if (!line->handle.cancelled()) throw;
    return;
  }
  line->handle.finish(std::move(line->job.result));
  const std::lock_guard lock(mutex_);
  ++lines_done_;
  if (calls_.progress && !line->job.parts.empty()) calls_.progress(lines_done_);  // else it was done at once
}

void PartQueue::close() {
  std::deque<Part> dropped;  // behind the lock
  const std::lock_guard lock(mutex_);
  closed_ = true;
  dropped.swap(ready_);
}

}  // namespace nmt
