#include <cmath>
#include <map>
#include <random>
#include <tuple>

#include "scoring/metrics/ter.h"
#include "support.h"

namespace nmt::scoring::tercom_edits_test {
namespace {

using Words = std::vector<uint32_t>;

/// The same count done plainly: whole matrices, a fresh one for every shift that is tried.
class PlainEdits {
 public:
  explicit PlainEdits(Words reference) : reference_(std::move(reference)) {}

  int64_t count(Words hypothesis) {
    if (reference_.empty()) return static_cast<int64_t>(hypothesis.size());
    int64_t shifts = 0, candidates = 0;
    while (true) {
      const auto [gain, shifted] = best_shift(hypothesis, candidates);
      if (candidates >= 1000 || gain <= 0) return shifts + distance(hypothesis).first;
      hypothesis = shifted;
      ++shifts;
    }
  }

 private:
  std::pair<int64_t, std::string> distance(const Words& hypothesis) const {
    constexpr int64_t kInfinite = int64_t{1} << 50;
    const int64_t height = hypothesis.size(), width = reference_.size();
    const double ratio = height ? static_cast<double>(width) / height : 1;
    const int64_t beam = ratio / 2 > 25 ? static_cast<int64_t>(std::ceil(ratio / 2 + 25)) : 25;
    std::vector<std::vector<std::pair<int64_t, char>>> cells(height + 1,
                                                             {static_cast<size_t>(width + 1), {kInfinite, 'x'}});
    for (int64_t j = 0; j <= width; ++j) cells[0][j] = {j, 'i'};
    for (int64_t i = 1; i <= height; ++i) {
      const auto diagonal = static_cast<int64_t>(std::floor(i * ratio));
      const int64_t last = i == height ? width + 1 : std::min(width + 1, diagonal + beam);
      for (int64_t j = std::max<int64_t>(0, diagonal - beam); j < last; ++j) {
        if (j == 0) {
          cells[i][0] = {cells[i - 1][0].first + 1, 'd'};
          continue;
        }
        const bool equal = hypothesis[i - 1] == reference_[j - 1];
        const std::pair<int64_t, char> ways[] = {{cells[i - 1][j - 1].first + !equal, equal ? ' ' : 's'},
                                                 {cells[i - 1][j].first + 1, 'd'},
                                                 {cells[i][j - 1].first + 1, 'i'}};
        for (const auto& way : ways) {
          if (way.first < cells[i][j].first) cells[i][j] = way;
        }
      }
    }
    std::string trace;
    for (int64_t i = height, j = width; i > 0 || j > 0;) {
      const char step = cells[i][j].second;
      trace.insert(trace.begin(), step);
      i -= step != 'i';
      j -= step != 'd';
    }
    return {cells[height][width].first, trace};
  }

  static Words moved(const Words& words, int64_t start, int64_t length, int64_t target) {
    Words result(words), run(words.begin() + start, words.begin() + start + length);
    result.erase(result.begin() + start, result.begin() + start + length);
    // Targets behind the run count its words; those within it count from where it starts.
    const int64_t at = target < start ? target : target > start + length ? target - length : target;
    result.insert(result.begin() + std::min<int64_t>(at, result.size()), run.begin(), run.end());
    return result;
  }

  std::pair<int64_t, Words> best_shift(const Words& words, int64_t& candidates) const {
    const auto [before, trace] = distance(words);
    std::map<int64_t, int64_t> align;
    std::vector<bool> reference_error, hypothesis_error;
    int64_t at_hypothesis = -1, at_reference = -1;
    for (const char step : trace) {
      if (step != 'i') {
        ++at_hypothesis;
        hypothesis_error.push_back(step != ' ');
      }
      if (step != 'd') {
        align[++at_reference] = at_hypothesis;
        reference_error.push_back(step != ' ');
      }
    }
    const auto any = [](const std::vector<bool>& errors, int64_t start, int64_t length) {
      return std::find(errors.begin() + start, errors.begin() + start + length, true) !=
             errors.begin() + start + length;
    };
    std::tuple<int64_t, int64_t, int64_t, int64_t> best;
    std::pair<int64_t, Words> result{0, words};
    bool found = false;
    const int64_t height = words.size(), width = reference_.size();
    for (int64_t start = 0; start < height; ++start) {
      for (int64_t at = 0; at < width; ++at) {
        if (std::abs(at - start) > 50) continue;
        for (int64_t length = 1; length <= 10 && start + length <= height && at + length <= width &&
                                 words[start + length - 1] == reference_[at + length - 1];
             ++length) {
          if (!any(hypothesis_error, start, length) || !any(reference_error, at, length)) continue;
          if (align[at] >= start && align[at] < start + length) continue;
          int64_t previous = -1;
          for (int64_t offset = -1; offset < length; ++offset) {
            const int64_t target = at + offset == -1 ? 0 : align[at + offset] + 1;
            if (target == previous) continue;
            previous = target;
            const Words shifted = moved(words, start, length, target);
            const std::tuple candidate(before - distance(shifted).first, length, -start, -target);
            ++candidates;
            if (!found || candidate > best) {
              best = candidate;
              result = {std::get<0>(candidate), shifted};
            }
            found = true;
          }
          if (candidates >= 1000) return result;
        }
      }
    }
    return result;
  }

  Words reference_;
};

TEST(TercomEdits, EqualsThePlainCountOnRandomSentences) {
  std::mt19937 random(8);
  TercomEdits edits;
  int64_t with_shifts = 0;
  for (int round = 0; round < 600; ++round) {
    const auto draw = [&](uint32_t bound) { return static_cast<uint32_t>(random() % bound); };
    const uint32_t vocabulary = 2 + draw(30);
    Words reference(draw(round % 20 == 0 ? 90 : 18)), hypothesis(draw(round % 15 == 0 ? 90 : 18));
    for (uint32_t& word : reference) word = draw(vocabulary);
    for (uint32_t& word : hypothesis) word = draw(vocabulary);
    if (round % 2 && reference.size() > 3) {  // a hypothesis that needs shifts
      hypothesis = reference;
      std::rotate(hypothesis.begin(), hypothesis.begin() + draw(hypothesis.size()), hypothesis.end());
      hypothesis[draw(hypothesis.size())] = draw(vocabulary);
      ++with_shifts;
    }
    EXPECT_EQ(edits.count(hypothesis, reference), PlainEdits(reference).count(hypothesis)) << "round " << round;
  }
  EXPECT_GT(with_shifts, 200);
}

TEST(TercomEdits, EqualsThePlainCountWhereLengthsDifferALot) {
  TercomEdits edits;
  for (const auto& [hypothesis_length, reference_length] : {std::pair(1, 200), std::pair(3, 170), std::pair(200, 2),
                                                            std::pair(60, 180), std::pair(0, 4), std::pair(4, 0)}) {
    Words hypothesis(hypothesis_length), reference(reference_length);
    for (size_t i = 0; i < hypothesis.size(); ++i) hypothesis[i] = (7 * i) % 11;
    for (size_t i = 0; i < reference.size(); ++i) reference[i] = (5 * i) % 13;
    EXPECT_EQ(edits.count(hypothesis, reference), PlainEdits(reference).count(hypothesis))
        << hypothesis_length << " words / " << reference_length;
  }
}

/// 0, 1, 2, ... rotated to the left.
Words rotated(uint32_t size, uint32_t by) {
  Words words(size);
  for (uint32_t i = 0; i < size; ++i) words[i] = (i + by) % size;
  return words;
}

TEST(TercomEdits, ShiftsAtMostTenWordsAtOnce) {
  TercomEdits edits;
  EXPECT_EQ(edits.count(rotated(40, 10), rotated(40, 0)), 1);
  EXPECT_EQ(edits.count(rotated(40, 11), rotated(40, 0)), 2);
  EXPECT_EQ(edits.count(rotated(40, 11), rotated(40, 0)), PlainEdits(rotated(40, 0)).count(rotated(40, 11)));
}

TEST(TercomEdits, ShiftsAtMostFiftyPlacesFar) {
  TercomEdits edits;
  // The last word belongs to the front. Nearer words cannot help: they are where they should be, but for one place.
  EXPECT_EQ(edits.count(rotated(51, 50), rotated(51, 0)), 1);
  EXPECT_EQ(edits.count(rotated(52, 51), rotated(52, 0)), PlainEdits(rotated(52, 0)).count(rotated(52, 51)));
  EXPECT_GT(edits.count(rotated(52, 51), rotated(52, 0)), 1);
}

}  // namespace
}  // namespace nmt::scoring::tercom_edits_test
