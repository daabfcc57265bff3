#include "scoring/metrics/ter.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/unicode.h"
#include "scoring/metrics/ngrams.h"
#include "scoring/python/python_number.h"
#include "scoring/tokenizers/western_rules.h"

namespace nmt::scoring {
namespace {

constexpr int32_t kMaxShiftLength = 10;
constexpr int32_t kMaxShiftDistance = 50;
constexpr int64_t kMaxCandidates = 1000;
constexpr int32_t kBeam = 25;
constexpr int32_t kInfinite = 1 << 29;

}  // namespace

bool TercomEdits::Shift::better_than(const Shift& other) const {
  // The largest gain, then the longest, then the earliest, then the earliest target.
  return std::tuple(gain, length, -start, -target) > std::tuple(other.gain, other.length, -other.start, -other.target);
}

int64_t TercomEdits::count(std::span<const uint32_t> hypothesis, std::span<const uint32_t> reference) {
  if (reference.empty()) return static_cast<int64_t>(hypothesis.size());
  reference_ = reference;
  words_.assign(hypothesis.begin(), hypothesis.end());
  candidates_ = 0;
  lay_out();
  int64_t shifts = 0;
  while (true) {
    compute_all();
    align();
    Shift best;
    const bool found = find_shift(best);
    // A shift found with the last of the candidates is not made, as in sacreBLEU.
    if (candidates_ >= kMaxCandidates || !found || best.gain <= 0) break;
    reorder(best);
    words_.swap(shifted_);
    ++shifts;
  }
  return shifts + distance_;
}

/// The beam of each row depends on the lengths alone.
void TercomEdits::lay_out() {
  const auto height = static_cast<int32_t>(words_.size()), width = static_cast<int32_t>(reference_.size());
  const double ratio = height > 0 ? static_cast<double>(width) / height : 1.0;
  const int32_t beam = kBeam < ratio / 2 ? static_cast<int32_t>(std::ceil(ratio / 2 + kBeam)) : kBeam;
  rows_.resize(height + 1);
  rows_[0] = {.first = 0, .last = width + 1, .offset = 0};
  for (int32_t i = 1; i <= height; ++i) {
    const auto diagonal = static_cast<int32_t>(std::floor(i * ratio));
    rows_[i].first = std::max(0, diagonal - beam);
    rows_[i].last = i == height ? width + 1 : std::min(width + 1, diagonal + beam);
  }
  // A row is stored with an infinite cell before it and as many behind as the next row will look at.
  size_t cells = 1;
  for (int32_t i = 0; i <= height; ++i) {
    const int32_t end = std::max(rows_[i].last, i < height ? rows_[i + 1].last : 0);
    rows_[i].offset = cells - rows_[i].first;
    cells += end - rows_[i].first + 1;
  }
  costs_.assign(cells, kInfinite);
  steps_.assign(cells, Step::kUnset);
  for (int32_t j = 0; j <= width; ++j) {
    costs_[rows_[0].offset + j] = j;
    steps_[rows_[0].offset + j] = Step::kReferenceOnly;
  }
  above_.assign(width + 3, kInfinite);
  here_.assign(width + 3, kInfinite);
}

/// One row of the Wagner-Fischer matrix, columns from `first` on; steps may be null.
void TercomEdits::fill_row(int32_t row, uint32_t word, const int32_t* above, int32_t* here, Step* steps) const {
  const auto [first, last, offset] = rows_[row];
  int32_t j = first;
  if (j == 0) {
    here[0] = above[0] + 1;
    if (steps) steps[0] = Step::kHypothesisOnly;
    ++j;
  }
  int32_t left = j > first ? here[j - 1] : kInfinite;
  for (; j < last; ++j) {
    const bool equal = word == reference_[j - 1];
    // The first of equal costs holds.
    const int32_t diagonal = above[j - 1] + !equal, down = above[j] + 1, right = left + 1;
    left = std::min({kInfinite, diagonal, down, right});
    here[j] = left;
    if (!steps) continue;
    steps[j] = left == kInfinite  ? Step::kUnset
               : left == diagonal ? (equal ? Step::kMatch : Step::kSubstitute)
               : left == down     ? Step::kHypothesisOnly
                                  : Step::kReferenceOnly;
  }
}

void TercomEdits::compute_all() {
  const auto height = static_cast<int32_t>(words_.size());
  for (int32_t i = 1; i <= height; ++i) {
    fill_row(i, words_[i - 1], costs_.data() + rows_[i - 1].offset, costs_.data() + rows_[i].offset,
             steps_.data() + rows_[i].offset);
  }
  distance_ = costs_[rows_[height].offset + reference_.size()];
}

/// Follows the cheapest path back from the corner.
void TercomEdits::align() {
  auto i = static_cast<int32_t>(words_.size()), j = static_cast<int32_t>(reference_.size());
  aligned_.assign(reference_.size(), -1);
  reference_errors_.assign(reference_.size() + 1, 0);
  hypothesis_errors_.assign(words_.size() + 1, 0);
  while (i > 0 || j > 0) {
    const Step step = steps_[rows_[i].offset + j];
    const bool error = step != Step::kMatch;
    if (step == Step::kHypothesisOnly) {
      hypothesis_errors_[i--] = 1;
      continue;
    }
    aligned_[j - 1] = i - 1;
    reference_errors_[j--] = error;
    if (step != Step::kReferenceOnly) hypothesis_errors_[i--] = error;
  }
  for (size_t k = 1; k < reference_errors_.size(); ++k) reference_errors_[k] += reference_errors_[k - 1];
  for (size_t k = 1; k < hypothesis_errors_.size(); ++k) hypothesis_errors_[k] += hypothesis_errors_[k - 1];
}

/// Tries to move every run of words that the reference has elsewhere; false if there is none.
bool TercomEdits::find_shift(Shift& best) {
  bool found = false;
  const auto height = static_cast<int32_t>(words_.size()), width = static_cast<int32_t>(reference_.size());
  for (int32_t start = 0; start < height; ++start) {
    const int32_t end = std::min(width, start + kMaxShiftDistance + 1);
    for (int32_t at = std::max(0, start - kMaxShiftDistance); at < end; ++at) {
      const int32_t longest = std::min({kMaxShiftLength, height - start, width - at});
      for (int32_t length = 1; length <= longest && words_[start + length - 1] == reference_[at + length - 1];
           ++length) {
        // Only words that are wrong where they are, to places that are wrong, and not into themselves.
        if (hypothesis_errors_[start + length] == hypothesis_errors_[start]) continue;
        if (reference_errors_[at + length] == reference_errors_[at]) continue;
        if (aligned_[at] >= start && aligned_[at] < start + length) continue;
        try_targets(start, at, length, best, found);
        if (candidates_ >= kMaxCandidates) return found;
      }
    }
  }
  return found;
}

void TercomEdits::try_targets(int32_t start, int32_t start_reference, int32_t length, Shift& best, bool& found) {
  int32_t previous = -1;
  for (int32_t offset = -1; offset < length; ++offset) {
    const int32_t at = start_reference + offset;
    const int32_t target = at == -1 ? 0 : aligned_[at] + 1;
    if (target == previous) continue;
    previous = target;
    Shift shift{.gain = 0, .length = length, .start = start, .target = target};
    shift.gain = distance_ - distance_after(shift);
    ++candidates_;
    if (!found || shift.better_than(best)) best = shift;
    found = true;
  }
}

/// Fills shifted_; returns the first position that changes.
int32_t TercomEdits::reorder(const Shift& shift) {
  const auto begin = words_.begin();
  const auto [gain, length, start, target] = shift;
  shifted_ = words_;
  if (target < start) {
    std::rotate_copy(begin + target, begin + start, begin + start + length, shifted_.begin() + target);
    return target;
  }
  // Forwards, or within the run itself: what follows the run comes before it.
  const int32_t end = target > start + length ? target : std::min<int32_t>(words_.size(), length + target);
  std::rotate_copy(begin + start, begin + start + length, begin + end, shifted_.begin() + start);
  return start;
}

/// The edit distance of the hypothesis after a shift: rows before the change are those of words_, and once a row
/// differs from its counterpart by one constant, so do all that follow, for the words behind the change are the same.
int32_t TercomEdits::distance_after(const Shift& shift) {
  const auto height = static_cast<int32_t>(words_.size()), width = static_cast<int32_t>(reference_.size());
  const int32_t first_changed = reorder(shift);
  int32_t end_of_change = height;
  while (end_of_change > first_changed && shifted_[end_of_change - 1] == words_[end_of_change - 1]) --end_of_change;
  if (end_of_change == first_changed) return distance_;
  const int32_t* above = costs_.data() + rows_[first_changed].offset;
  for (int32_t i = first_changed + 1; i <= height; ++i) {
    int32_t* here = here_.data() + 1;
    const auto [first, last, offset] = rows_[i];
    fill_row(i, shifted_[i - 1], above, here, nullptr);
    if (i >= end_of_change) {
      const int32_t* before = costs_.data() + offset;
      const int32_t difference = here[first] - before[first];
      int32_t j = first + 1;
      while (j < last && here[j] - before[j] == difference) ++j;
      if (j == last) return distance_ + difference;
    }
    if (first > 0) here[first - 1] = kInfinite;
    if (i < height) std::fill(here + last, here + std::max(last, rows_[i + 1].last), kInfinite);
    above_.swap(here_);
    above = above_.data() + 1;
  }
  return above[width];
}

namespace {

class TerSegmentScorer final : public SegmentScorer {
 public:
  explicit TerSegmentScorer(const TerOptions& options) : options_(options) {}

  void set_references(std::span<const std::string_view> references) override {
    symbols_of_.clear();
    texts_.resize(std::max(texts_.size(), references.size()));
    references_.resize(references.size());
    for (size_t i = 0; i < references.size(); ++i) {
      tokenize_tercom(references[i], options_, texts_[i]);
      split_words(texts_[i], words_);
      if (options_.normalized) normalize_again(texts_[i]);
      references_[i].clear();
      for (const std::string_view word : words_) references_[i].push_back(symbols_of_.add(word));
    }
  }

  void statistics(std::string_view hypothesis, std::span<double> out) override {
    tokenize_tercom(hypothesis, options_, hypothesis_text_);
    split_words(hypothesis_text_, words_);
    // Words that no reference has need not be told apart.
    hypothesis_.clear();
    for (const std::string_view word : words_) hypothesis_.push_back(symbols_of_.find(word));
    int64_t fewest = 0, length = 0;
    for (size_t i = 0; i < references_.size(); ++i) {
      const int64_t edits = edits_.count(hypothesis_, references_[i]);
      fewest = i == 0 ? edits : std::min(fewest, edits);
      length += static_cast<int64_t>(references_[i].size());
    }
    out[0] = static_cast<double>(fewest);
    out[1] = static_cast<double>(length) / static_cast<double>(references_.size());
  }

 private:
  /// sacreBLEU prepares references twice, which shows: "it's," is two words after the first time, "it 's ," three after
  /// the second. Without normalisation the second time changes nothing.
  void normalize_again(std::string& text) {
    std::string joined;
    for (const std::string_view word : words_) joined.append(joined.empty() ? "" : " ").append(word);
    tokenize_tercom(joined, options_, text);
    split_words(text, words_);
  }

  TerOptions options_;
  SymbolTable symbols_of_;
  TercomEdits edits_;
  std::vector<std::string> texts_;
  std::string hypothesis_text_;
  std::vector<std::string_view> words_;
  std::vector<std::vector<uint32_t>> references_;
  std::vector<uint32_t> hypothesis_;
};

template <typename Number>
Number ter(Number edits, Number reference_length) {
  if (value_of(reference_length) > 0) return Number(100.0) * (edits / reference_length);
  return value_of(edits) > 0 ? 100.0 : 0.0;  // against nothing
}

std::string yes_or_no(bool value) { return value ? "yes" : "no"; }

}  // namespace

std::unique_ptr<SegmentScorer> Ter::segment_scorer() const { return std::make_unique<TerSegmentScorer>(options_); }

Score Ter::score_of(std::span<const double> sums) const {
  Score score;
  score.name = name();
  score.score = ter(sums[0], sums[1]);
  score.edits = sums[0];
  score.reference_words = sums[1];
  return score;
}

ResampleScore Ter::score_of_resample(std::span<const float> sums) const {
  const auto score = ter(NumpyScalar(sums[0]), NumpyScalar(sums[1]));
  return {.value = score.value(), .is_float32 = score.is_float32()};
}

Signature Ter::signature(const SignatureFacts& facts) const {
  return Signature(facts, {{"case", "c", options_.case_sensitive ? "mixed" : "lc"},
                           {"tok", "t", "tercom"},
                           {"norm", "nr", yes_or_no(options_.normalized)},
                           {"punct", "pn", yes_or_no(!options_.no_punctuation)},
                           {"asian", "as", yes_or_no(options_.asian_support)}});
}

}  // namespace nmt::scoring
