#include "scoring/significance/paired_test.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/unicode.h"
#include "scoring/corpus/corpus_statistics.h"

namespace nmt::scoring {
namespace {

SegmentBlock block_of(std::span<const NamedSystem> systems, const References& references) {
  if (systems.size() < 2) throw Error("paired test: at least two systems are needed");
  if (references.empty()) throw Error("paired test: there are no references");
  const size_t segments = references.front().size();
  if (segments == 0) throw Error("paired test: there are no segments");
  SegmentBlock block;
  const auto add = [&](std::vector<std::vector<std::string_view>>& to, const std::vector<std::string>& lines,
                       const std::string& what) {
    if (lines.size() != segments) {
      throw Error(fmt::format("paired test: {} has {} lines, the references have {}", what, lines.size(), segments));
    }
    for (size_t i = 0; i < lines.size(); ++i) {
      if (find_invalid_utf8(lines[i])) throw Error(fmt::format("{} line {}: not UTF-8", what, i + 1));
    }
    to.emplace_back(lines.begin(), lines.end());
  };
  for (const auto& set : references) add(block.references, set, "a reference set");
  for (const NamedSystem& system : systems) add(block.hypotheses, system.hypotheses, system.name);
  return block;
}

}  // namespace

PairedTable paired_test(std::span<const NamedSystem> systems, const References& references,
                        std::span<const std::shared_ptr<const Metric>> metrics, const PairedTestOptions& options) {
  const SegmentBlock block = block_of(systems, references);
  if (metrics.empty()) throw Error("paired test: there are no metrics; give one or more");
  CorpusStatistics statistics({metrics.begin(), metrics.end()}, systems.size(), kept_for(options.kind),
                              options.threads);
  statistics.add(block);
  std::vector<std::string> names;
  for (const NamedSystem& system : systems) names.push_back(system.name);
  return paired_test(statistics, std::move(names), options);
}

}  // namespace nmt::scoring
