#include "scoring/corpus/corpus_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/threads.h"
#include "base/unicode.h"

namespace nmt::scoring {
namespace {

constexpr int64_t kSegmentsPerThread = 64;  // fewer are not worth a thread

}  // namespace

void ResampleMatrix::append(std::span<const double> row) {
  const auto fits = [](double value) { return value == static_cast<double>(static_cast<uint16_t>(value)); };
  if (is_short_ && !std::all_of(row.begin(), row.end(), [&](double v) { return v >= 0 && v <= 65535 && fits(v); })) {
    is_short_ = false;
    float_values_.assign(short_values_.begin(), short_values_.end());
    short_values_ = {};
  }
  const auto add = [&](auto& values) {
    values.insert(values.end(), row.begin(), row.end());
    values.resize(values.size() + stride_ - columns_);
  };
  is_short_ ? add(short_values_) : add(float_values_);
  ++rows_;
}

CorpusStatistics::CorpusStatistics(std::vector<std::shared_ptr<const Metric>> metrics, size_t systems, Keep keep,
                                   int threads)
    : metrics_(std::move(metrics)),
      systems_(systems),
      keep_(keep),
      threads_(threads > 0 ? threads : default_threads()) {
  for (const auto& metric : metrics_) {
    for (size_t system = 0; system < systems_; ++system) {
      gathered_.push_back({std::vector<double>(metric->columns()), {}, ResampleMatrix(metric->columns())});
    }
  }
}

void CorpusStatistics::score_segments(const SegmentBlock& block, int64_t begin, int64_t end,
                                      std::vector<std::vector<double>>& statistics) const {
  std::vector<std::unique_ptr<SegmentScorer>> scorers;
  for (const auto& metric : metrics_) scorers.push_back(metric->segment_scorer());
  std::vector<std::string_view> references, stripped;
  for (int64_t segment = begin; segment < end; ++segment) {
    references.clear();
    for (const auto& set : block.references) {
      if (set[segment].data()) references.push_back(set[segment]);
    }
    if (references.empty()) throw Error(fmt::format("segment {}: no reference", segments_ + segment + 1));
    stripped.clear();
    if (block.has_line_ends) std::ranges::transform(references, std::back_inserter(stripped), strip_end);
    for (size_t m = 0; m < metrics_.size(); ++m) {
      const bool strips = block.has_line_ends && !metrics_[m]->reads_line_ends();
      scorers[m]->set_references(strips ? stripped : references);
      const size_t columns = metrics_[m]->columns();
      for (size_t system = 0; system < systems_; ++system) {
        const std::string_view hypothesis = block.hypotheses[system][segment];
        scorers[m]->statistics(strips ? strip_end(hypothesis) : hypothesis,
                               std::span(statistics[m * systems_ + system]).subspan(segment * columns, columns));
      }
    }
  }
}

void CorpusStatistics::add(const SegmentBlock& block) {
  const int64_t size = block.size();
  std::vector<std::vector<double>> statistics;
  for (const Gathered& gathered : gathered_) statistics.emplace_back(gathered.sums.size() * size);
  parallel_for(size, kSegmentsPerThread, threads_,
               [&](int64_t begin, int64_t end) { score_segments(block, begin, end, statistics); });
  for (size_t i = 0; i < gathered_.size(); ++i) {
    Gathered& gathered = gathered_[i];
    const size_t columns = gathered.sums.size();
    for (int64_t segment = 0; segment < size; ++segment) {
      const auto row = std::span(statistics[i]).subspan(segment * columns, columns);
      for (size_t c = 0; c < columns; ++c) gathered.sums[c] += row[c];
      if (keep_ == Keep::kFloat32) gathered.float32.append(row);
    }
    if (keep_ == Keep::kExact) gathered.exact.insert(gathered.exact.end(), statistics[i].begin(), statistics[i].end());
  }
  for (int64_t segment = 0; segment < size; ++segment) {
    const auto present = std::count_if(block.references.begin(), block.references.end(),
                                       [segment](const auto& set) { return set[segment].data() != nullptr; });
    if (segments_ + segment == 0) references_ = present;
    if (references_ != present) references_ = kVariableReferences;
  }
  segments_ += size;
}

}  // namespace nmt::scoring
