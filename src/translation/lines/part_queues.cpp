#include "translation/lines/part_queues.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace nmt {
namespace {

int64_t id_of(const LinePart* part) { return reinterpret_cast<int64_t>(part); }
LinePart* part_of(int64_t id) { return reinterpret_cast<LinePart*>(id); }

/// What is taken at once is encoded at once, and nobody who gives up meanwhile is heard: of very long lines few are
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
      LineJob{.request = std::move(item.request), .id = item.id, .given_up = std::move(item.given_up)});
  line.stopped = [token = line.given_up] { return token.stop_requested(); };
  try {
    steps_.begin(line);
  } catch (const TranslationStopped&) {
    lines_.is_given_up(line.id);  // takes it off
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
    std::vector<LinePart*> left_alone;  // of lines that were given up meanwhile
    bool has_room = true;
    {
      const std::lock_guard lock(mutex_);
      for (; portion.has_room() && !ready_.empty() && !closed_; ready_.pop_front()) {
        if (ready_.front()->line->given_up.stop_requested())
          left_alone.push_back(ready_.front());
        else
          portion.add(*ready_.front());
      }
      has_room = !closed_ && portion.has_room();
    }
    for (LinePart* part : left_alone)
      if (!is_given_up(id_of(part))) portion.add(*part);
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
    lines_.is_given_up(one.front().id);
  else
    lines_.finish(one.front().id, std::move(one.front().result));
}

bool LiveParts::is_given_up(int64_t id) {
  LineJob& job = *part_of(id)->line;
  if (job.given_up.stop_possible() && !job.given_up.stop_requested()) return false;
  if (!lines_.is_given_up(job.id)) return false;
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
