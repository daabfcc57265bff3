#include "models/transformer/transformer_state.h"

#include <algorithm>
#include <iterator>

namespace nmt {

TransformerState::TransformerState(const torch::Tensor& source_lengths, std::vector<BlockCache> caches)
    : caches_(std::move(caches)) {
  const int64_t sentences = source_lengths.size(0);
  for (int64_t i = 0; i < sentences; ++i)
    memory_of_row_.push_back({.group = 0, .index = i, .length = source_lengths.const_data_ptr<int64_t>()[i]});
  positions_.assign(sentences, 0);
}

void TransformerState::select(const torch::Tensor& rows) {
  std::vector<MemoryPlace> memory_of_row;
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < rows.size(0); ++i) {
    const int64_t row = rows.const_data_ptr<int64_t>()[i];
    memory_of_row.push_back(memory_of_row_[row]);
    positions.push_back(positions_[row]);
  }
  memory_of_row_ = std::move(memory_of_row);
  positions_ = std::move(positions);
  input_.select(rows);
  for (auto& cache : caches_) cache.self.select(rows);
  drop_finished();
}

void TransformerState::join(std::unique_ptr<DecoderState> fresh) {
  auto& other = dynamic_cast<TransformerState&>(*fresh);
  const int64_t rows = other.rows(), groups = std::ssize(caches_.front().memories);
  for (auto place : other.memory_of_row_) {
    place.group += groups;
    memory_of_row_.push_back(place);
  }
  std::ranges::copy(other.positions_, std::back_inserter(positions_));
  input_.add_rows(rows);
  for (size_t i = 0; i < caches_.size(); ++i) {
    caches_[i].self.add_rows(rows);
    std::ranges::move(other.caches_[i].memories, std::back_inserter(caches_[i].memories));
  }
}

StepPlace TransformerState::advance() {
  StepPlace place{.positions = RowPositions(positions_), .memory_of_row = memory_of_row_};
  for (auto& position : positions_) ++position;
  return place;
}

// Forgets memories that no row looks at any more.
void TransformerState::drop_finished() {
  constexpr int64_t kUnused = -1;
  std::vector<int64_t> new_group(caches_.front().memories.size(), kUnused);
  for (const auto& place : memory_of_row_) new_group[place.group] = 0;
  if (std::ranges::find(new_group, kUnused) == new_group.end()) return;
  int64_t groups = 0;
  for (auto& group : new_group)
    if (group != kUnused) group = groups++;
  for (auto& cache : caches_) {
    for (size_t i = 0; i < new_group.size(); ++i)
      if (new_group[i] != kUnused && new_group[i] != static_cast<int64_t>(i))
        cache.memories[new_group[i]] = std::move(cache.memories[i]);
    cache.memories.resize(groups);
  }
  for (auto& place : memory_of_row_) place.group = new_group[place.group];
}

}  // namespace nmt
