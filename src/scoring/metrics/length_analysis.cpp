#include "scoring/metrics/length_analysis.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/unicode.h"
#include "scoring/python/python_number.h"

namespace nmt::scoring {
namespace {

class WordCounter {
 public:
  int64_t operator()(std::string_view text) {
    split_words(text, words_);
    return std::ssize(words_);
  }

 private:
  std::vector<std::string_view> words_;
};

void append(const SegmentBlock& from, int64_t segment, SegmentBlock& to) {
  to.has_line_ends = from.has_line_ends;
  to.hypotheses.resize(from.hypotheses.size());
  to.references.resize(from.references.size());
  for (size_t i = 0; i < from.hypotheses.size(); ++i) to.hypotheses[i].push_back(from.hypotheses[i][segment]);
  for (size_t i = 0; i < from.references.size(); ++i) to.references[i].push_back(from.references[i][segment]);
}

}  // namespace

SegmentBlock with_words(const SegmentBlock& block, int64_t min, int64_t max) {
  SegmentBlock kept;
  WordCounter count;
  for (int64_t segment = 0; segment < block.size(); ++segment) {
    const auto is_within = [&](const auto& lines) {
      if (lines[segment].data() == nullptr) return true;  // no such reference
      const int64_t words = count(lines[segment]);
      return min <= words && words <= max;
    };
    if (std::all_of(block.hypotheses.begin(), block.hypotheses.end(), is_within) &&
        std::all_of(block.references.begin(), block.references.end(), is_within)) {
      append(block, segment, kept);
    }
  }
  return kept;
}

LengthAnalysis::LengthAnalysis(std::vector<std::shared_ptr<const Metric>> metrics, int64_t step, int threads)
    : metrics_(std::move(metrics)), step_(step), threads_(threads) {}

void LengthAnalysis::add(const SegmentBlock& block) {
  std::map<int64_t, SegmentBlock> parts;
  WordCounter count;
  for (int64_t segment = 0; segment < block.size(); ++segment) {
    append(block, segment, parts[count(block.references.front()[segment]) / step_]);
  }
  for (const auto& [number, part] : parts)
    classes_.try_emplace(number, metrics_, 1, Keep::kSums, threads_).first->second.add(part);
}

std::string LengthAnalysis::table(int width) const {
  std::string text = fmt::format("{:<15}{:>10}", "length", "segments");
  for (const auto& metric : metrics_) text += fmt::format(" {:>19}", metric->name());
  text += '\n';
  for (const auto& [number, statistics] : classes_) {
    const int64_t first = number * step_;
    text += fmt::format("{:<15}{:>10}", fmt::format("{}-{}", first, first + step_ - 1), statistics.segments());
    for (size_t m = 0; m < metrics_.size(); ++m) {
      text += fmt::format(" {:>19}",
                          metrics_[m]->score_of(statistics.sums(m, 0)).format({.width = width, .score_only = true}));
    }
    text += '\n';
  }
  return text;
}

}  // namespace nmt::scoring
