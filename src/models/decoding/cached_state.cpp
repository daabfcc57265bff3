#include "models/decoding/cached_state.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace nmt {

CachedState::CachedState(const torch::Tensor& source_lengths, DecoderCache cache) : cache_(std::move(cache)) {
  const int64_t sentences = source_lengths.size(0);
  for (int64_t i = 0; i < sentences; ++i)
    sources_.push_back({.group = 0, .index = i, .length = source_lengths.const_data_ptr<int64_t>()[i]});
  positions_.assign(sentences, 0);
}

void CachedState::select(const torch::Tensor& rows) {
  std::vector<SourcePlace> sources;
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < rows.size(0); ++i) {
    const int64_t row = rows.const_data_ptr<int64_t>()[i];
    sources.push_back(sources_[row]);
    positions.push_back(positions_[row]);
  }
  sources_ = std::move(sources);
  positions_ = std::move(positions);
  if (cache_.input) cache_.input->select(rows);
  for (auto& block : cache_.blocks) block.past->select(rows);
  drop_finished();
}

void CachedState::join(std::unique_ptr<DecoderState> other_state) {
  auto& other = dynamic_cast<CachedState&>(*other_state);
  const int64_t own_rows = rows(), other_rows = other.rows();
  if (cache_.input) cache_.input->join(*other.cache_.input, own_rows, other_rows);
  for (size_t i = 0; i < cache_.blocks.size(); ++i) {
    auto &mine = cache_.blocks[i], &theirs = other.cache_.blocks[i];
    mine.past->join(*theirs.past, own_rows, other_rows);
    if (mine.source) mine.source->join(*theirs.source);
  }
  for (auto place : other.sources_) {
    place.group += groups_;
    sources_.push_back(place);
  }
  groups_ += other.groups_;
  std::ranges::copy(other.positions_, std::back_inserter(positions_));
}

StepRows CachedState::advance(int64_t n) {
  StepRows rows{.positions = RowPositions(positions_), .sources = sources_};
  for (auto& position : positions_) position += n;
  return rows;
}

// Forgets encoder outputs that no row looks at any more.
void CachedState::drop_finished() {
  std::vector<int64_t> new_group(groups_, -1), kept;
  for (const auto& place : sources_) new_group[place.group] = 0;
  for (int64_t group = 0; group < groups_; ++group) {
    if (new_group[group] < 0) continue;
    new_group[group] = std::ssize(kept);
    kept.push_back(group);
  }
  if (std::ssize(kept) == groups_) return;
  groups_ = std::ssize(kept);
  for (auto& block : cache_.blocks)
    if (block.source) block.source->keep(kept);
  for (auto& place : sources_) place.group = new_group[place.group];
}

}  // namespace nmt
