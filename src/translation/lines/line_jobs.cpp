#include "translation/lines/line_jobs.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

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
  auto& [text, alternatives, source_tokens, target_tokens, split, prefix_is_cut, grid] = job.result;
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
  if (!options.sampling) drop_repeated(alternatives);
  text = alternatives.front().text;
  target_tokens = alternatives.front().tokens;
  if (aligns) add_words(codec, job.request, job.result);
  if (job.request.attention || options.attention) return;
  for (auto& one : alternatives)  // it may be large, and results wait for those of other lines
    for (auto& part : one.parts) part.attention = {};
}

namespace {

int64_t id_of(const LinePart* part) { return reinterpret_cast<int64_t>(part); }
LinePart* part_of(int64_t id) { return reinterpret_cast<LinePart*>(id); }

/// What is taken at once is encoded at once, and no cancellation is noticed meanwhile: of very long lines few are
/// taken.
class Portion {
 public:
  explicit Portion(int64_t count) : count_(count) {}
  bool has_room() const { return std::ssize(items_) < count_ && pieces_ < kManyPieces; }
  void add(LinePart& part) {
    items_.push_back({id_of(&part), &part.input});
    pieces_ += std::ssize(part.input.sources.front());
  }
  int64_t left() const { return count_ - std::ssize(items_); }
  std::vector<SearchQueue::Item> items() && { return std::move(items_); }

 private:
  static constexpr int64_t kManyPieces = 4096;
  int64_t count_, pieces_ = 0;
  std::vector<SearchQueue::Item> items_;
};

}  // namespace

SortedParts::SortedParts(std::span<LineJob> lines, const TranslationCalls& calls) : calls_(calls) {
  for (auto& line : lines) {
    line.parts_left = std::ssize(line.parts);
    lines_done_ += line.parts.empty() ? 1 : 0;
    for (auto& part : line.parts) {
      part.line = &line;
      parts_.push_back(&part);
    }
  }
  std::ranges::stable_sort(parts_, std::ranges::greater(),
                           [](const LinePart* part) { return part->input.sources.front().size(); });
}

std::vector<SearchQueue::Item> SortedParts::take(int64_t count) {
  const std::lock_guard lock(mutex_);
  Portion portion(count);
  for (; portion.has_room() && next_ < parts_.size(); ++next_) portion.add(*parts_[next_]);
  return std::move(portion).items();
}

void SortedParts::finish(int64_t id, std::vector<Hypothesis> hypotheses) {
  auto* part = part_of(id);
  part->hypotheses = std::move(hypotheses);
  const std::lock_guard lock(mutex_);
  if (--part->line->parts_left > 0) return;
  ++lines_done_;
  if (calls_.progress) calls_.progress(lines_done_);
}

bool SortedParts::stopped() {
  if (calls_.stopped && calls_.stopped()) throw TranslationStopped();
  return false;
}

void SortedParts::close() {
  const std::lock_guard lock(mutex_);
  next_ = parts_.size();
}

/// Encodes it, by the thread that asked for it.
void LiveParts::begin(TranslationQueue::Item item) {
  std::list<LineJob> fresh;
  LineJob& line = fresh.emplace_back(
      LineJob{.request = std::move(item.request), .id = item.id, .cancelled = std::move(item.cancelled)});
  line.stopped = [token = line.cancelled] { return token.stop_requested(); };
  try {
    steps_.begin(line);
  } catch (const TranslationStopped&) {
    lines_.is_cancelled(line.id);  // takes it off
    return;
  }
  if (line.parts.empty()) {
    steps_.finish(line);
    return lines_.finish(line.id, std::move(line.result));
  }
  const std::lock_guard lock(mutex_);
  under_way_.splice(under_way_.end(), fresh);
  add_parts(line);
}

void LiveParts::add_parts(LineJob& line) {
  line.parts_left = std::ssize(line.parts);
  for (auto& part : line.parts) {
    part.line = &line;
    ready_.push_back(&part);
  }
}

std::list<LineJob> LiveParts::taken_out(const LineJob& line) {
  std::list<LineJob> one;
  one.splice(one.end(), under_way_, std::ranges::find_if(under_way_, [&](const auto& own) { return &own == &line; }));
  return one;
}

std::vector<SearchQueue::Item> LiveParts::take(int64_t count) {
  Portion portion(count);
  const auto take_ready = [&] {
    std::vector<LinePart*> left_alone;  // of lines that were cancelled meanwhile
    bool has_room = true;
    {
      const std::lock_guard lock(mutex_);
      for (; portion.has_room() && !ready_.empty() && !closed_; ready_.pop_front()) {
        if (ready_.front()->line->cancelled.stop_requested())
          left_alone.push_back(ready_.front());
        else
          portion.add(*ready_.front());
      }
      has_room = !closed_ && portion.has_room();
    }
    for (LinePart* part : left_alone)
      if (!is_cancelled(id_of(part))) portion.add(*part);
    return has_room;
  };
  if (!take_ready()) return std::move(portion).items();
  const int64_t even_share = (lines_.waiting() + threads_ - 1) / threads_;
  const int64_t wanted = std::min(portion.left(), even_share);
  if (wanted > 0) {
    for (auto& item : lines_.take(wanted)) begin(std::move(item));
  }
  take_ready();
  return std::move(portion).items();
}

bool LiveParts::wait() {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    if (!ready_.empty()) return true;
  }
  return lines_.wait();
}

void LiveParts::finish(int64_t id, std::vector<Hypothesis> hypotheses) {
  auto* part = part_of(id);
  part->hypotheses = std::move(hypotheses);
  LineJob& job = *part->line;
  {
    const std::lock_guard lock(mutex_);
    if (--job.parts_left > 0) return;
  }
  // The job is this thread's alone now.
  bool done = true;
  try {
    if (!job.is_dropped) done = steps_.finish(job);
  } catch (const TranslationStopped&) {  // as it was begun again
    job.is_dropped = true;
  }
  std::list<LineJob> one;
  {
    const std::lock_guard lock(mutex_);
    if (!done) return add_parts(job);
    one = taken_out(job);
  }
  if (one.front().is_dropped)
    lines_.is_cancelled(one.front().id);
  else
    lines_.finish(one.front().id, std::move(one.front().result));
}

bool LiveParts::is_cancelled(int64_t id) {
  LineJob& job = *part_of(id)->line;
  if (job.cancelled.stop_possible() && !job.cancelled.stop_requested()) return false;
  if (!lines_.is_cancelled(job.id)) return false;
  // The search drops this part and does not ask for it again.
  const std::lock_guard lock(mutex_);
  job.is_dropped = true;
  if (--job.parts_left == 0) taken_out(job);
  return true;
}

void LiveParts::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  lines_.close();
}

}  // namespace nmt
