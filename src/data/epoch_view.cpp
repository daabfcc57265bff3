#include "data/epoch_view.h"

#include <algorithm>

namespace nmt {

Pieces EpochView::source(int64_t pair) const {
  const auto plain = corpus_.source(pair);
  if (!sampling_ || !sampling_->source) return Pieces(plain);
  const auto kept = std::ranges::mismatch(plain, sampling_->source_prefix).in1 - plain.begin();
  return sampled(plain, kept, *sampling_->source, sampling_->max_source, pair, 0);
}

Pieces EpochView::target(int64_t pair) const {
  const auto plain = corpus_.target(pair);
  if (!sampling_ || !sampling_->target) return Pieces(plain);
  return sampled(plain, 0, *sampling_->target, sampling_->max_target, pair, 1);
}

Pieces EpochView::sampled(std::span<const int32_t> plain, int64_t kept, const SubwordSampler& sampler, int64_t max,
                          int64_t pair, uint64_t side) const {
  CounterRandom random({sampling_->seed, static_cast<uint64_t>(epoch_), static_cast<uint64_t>(pair), side});
  auto ids = sampler.sample(plain.subspan(kept), random);
  ids.insert(ids.begin(), plain.begin(), plain.begin() + kept);
  return std::ssize(ids) > max ? Pieces(plain) : Pieces(std::move(ids));
}

}  // namespace nmt
