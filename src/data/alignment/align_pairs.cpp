#include "data/alignment/align_pairs.h"

#include <algorithm>
#include <utility>

#include "base/threads.h"

namespace nmt {
namespace {

constexpr int64_t kPairsAtOnce = 1 << 16;

bool is_aligned(const PiecePairs& pairs, int64_t pair) {
  const int64_t source = std::ssize(pairs.source(pair)), target = std::ssize(pairs.target(pair));
  return source <= kLongestAligned && target <= kLongestAligned && pairs.prefix_length(pair) + source <= kLongestLinked;
}

}  // namespace

std::optional<AlignedPairs> align_pairs(const PiecePairs& pairs, int64_t source_vocabulary, int64_t target_vocabulary,
                                        const HmmOptions& options, Symmetrization how) {
  int64_t before = 0;  // of the first model
  HmmOptions own = options;
  own.progress = [&](int64_t done, int64_t all) {
    if (options.progress) options.progress(before + done, 2 * all);
  };
  const auto forward = HmmAligner::train(pairs, source_vocabulary, target_vocabulary, own);
  before = pairs.size() * (options.model_one_iterations + options.iterations);
  const auto reversed =
      forward ? HmmAligner::train(pairs.exchanged(), target_vocabulary, source_vocabulary, own) : std::nullopt;
  if (!reversed) return std::nullopt;
  AlignedPairs aligned;
  std::vector<std::vector<PieceLink>> links;
  for (int64_t begin = 0; begin < pairs.size(); begin += kPairsAtOnce) {
    if (options.should_stop()) return std::nullopt;
    const int64_t count = std::min(kPairsAtOnce, pairs.size() - begin);
    links.assign(count, {});
    parallel_for(count, 64, options.threads, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        const int64_t pair = begin + i;
        if (!is_aligned(pairs, pair)) continue;
        const auto source = pairs.source(pair), target = pairs.target(pair);
        links[i] = symmetrize(forward->align(source, target), reversed->align(target, source), how);
        for (auto& link : links[i]) link.source = static_cast<uint16_t>(link.source + pairs.prefix_length(pair));
      }
    });
    for (const auto& of_pair : links) {
      aligned.links.insert(aligned.links.end(), of_pair.begin(), of_pair.end());
      aligned.ends.push_back(aligned.links.size());
    }
  }
  return aligned;
}

}  // namespace nmt
