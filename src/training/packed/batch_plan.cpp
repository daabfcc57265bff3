#include "training/packed/batch_plan.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "nn/device/device.h"
#include "text/tokenizer.h"

namespace nmt {
namespace {

// Numbers of 32 bits that go to the device in one copy; each array begins at a multiple of 16 bytes.
class Block {
 public:
  /// `to` becomes the array once the block is on the device.
  void add(const std::vector<int32_t>& numbers, torch::Tensor& to, std::vector<int64_t> sizes = {},
           at::ScalarType type = torch::kInt32) {
    const auto first = std::ssize(numbers_), count = std::ssize(numbers);
    numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
    numbers_.resize((numbers_.size() + 3) / 4 * 4);
    if (sizes.empty()) sizes = {count};
    arrays_.push_back([first, count, sizes, type, &to](const torch::Tensor& block) {
      const auto part = block.narrow(0, first, count);
      to = (type == torch::kInt32 ? part : part.view(type)).view(sizes);
    });
  }
  torch::Tensor copy_to(torch::Device device) const {
    auto block = copy_to_device(torch::tensor(at::ArrayRef<int32_t>(numbers_), torch::kInt32), device);
    for (const auto& set : arrays_) set(block);
    return block;
  }

 private:
  std::vector<int32_t> numbers_;
  std::vector<std::function<void(const torch::Tensor& block)>> arrays_;
};

std::vector<int64_t> lengths_of(const torch::Tensor& x) {
  return {x.const_data_ptr<int64_t>(), x.const_data_ptr<int64_t>() + x.numel()};
}

int64_t sum(std::span<const int64_t> lengths) { return std::reduce(lengths.begin(), lengths.end(), int64_t{0}); }

/// The ids [batch, width] of real tokens.
std::vector<int32_t> packed(const torch::Tensor& ids_in, std::span<const int64_t> lengths) {
  const auto ids = ids_in.contiguous();
  std::vector<int32_t> words;
  for (int64_t row = 0; row < ids.size(0); ++row)
    for (int64_t i = 0; i < lengths[static_cast<size_t>(row)]; ++i)
      words.push_back(static_cast<int32_t>(ids.const_data_ptr<int64_t>()[row * ids.size(1) + i]));
  return words;
}

// Each side gets as many sentences, of nearly one length, none empty.
void add_filling(std::vector<int64_t>& source, std::vector<int64_t>& target, const PlannedRows& rows) {
  int64_t more_source = rows.source - sum(source), more_target = rows.target - sum(target);
  for (auto left = (std::max(more_source, more_target) + kSmallTile - 1) / kSmallTile; left > 0; --left) {
    source.push_back((more_source + left - 1) / left);
    target.push_back((more_target + left - 1) / left);
    more_source -= source.back();
    more_target -= target.back();
  }
}

// has_room: the sizes follow from the number of words alone; what is behind the last piece or entry has no rows.
void add_groups(Block& block, const std::vector<int32_t>& words, bool has_room, WordGroups& groups) {
  std::vector<int32_t> order(words.size()), pieces, entries;
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int32_t row) { return words[static_cast<size_t>(row)]; });
  const auto end = std::ssize(order);
  for (int64_t first = 0, next = 0; first < end; first = next) {
    const int32_t word = words[static_cast<size_t>(order[static_cast<size_t>(first)])];
    while (next < end && words[static_cast<size_t>(order[static_cast<size_t>(next)])] == word) ++next;
    const bool several = next - first > kPieceRows;
    const int64_t first_part = groups.parts;
    for (int64_t begin = first; begin < next; begin += kPieceRows) {
      const auto place = several ? -1 - groups.parts++ : word;
      for (const int64_t number : {begin, std::min(kPieceRows, next - begin), static_cast<int64_t>(place)})
        pieces.push_back(static_cast<int32_t>(number));
    }
    if (!several) continue;
    for (const int64_t number : {static_cast<int64_t>(word), first_part, groups.parts - first_part})
      entries.push_back(static_cast<int32_t>(number));
  }
  if (has_room) {  // a word of several pieces has more than kPieceRows rows
    const size_t rows = words.size(), piece = static_cast<size_t>(kPieceRows);
    pieces.resize(3 * rows);
    entries.resize(3 * (rows / piece));
    groups.parts = std::ssize(words) / (kPieceRows / 2);
  }
  block.add(order, groups.order);
  block.add(pieces, groups.pieces, {std::ssize(pieces) / 3, 3});
  block.add(entries, groups.entries, {std::ssize(entries) / 3, 3});
}

void add_side(Block& block, std::vector<int32_t> words, std::span<const int64_t> lengths,
              const BatchPlanOptions& options, PackedSide& side) {
  std::vector<int32_t> positions, segments;
  for (size_t row = 0; row < lengths.size(); ++row)
    for (int64_t i = 0; i < lengths[row]; ++i) {
      positions.push_back(static_cast<int32_t>(i));
      segments.push_back(static_cast<int32_t>(row));
    }
  words.resize(positions.size(), SpecialIds::kPad);
  block.add(words, side.words);
  block.add(positions, side.positions);
  block.add(segments, side.segments);
  const bool has_room = options.rows.has_value();
  add_groups(block, words, has_room, side.by_word);
  if (options.learned_positions) add_groups(block, positions, has_room, side.by_position);
}

// Consecutive whole sentences share a tile while both sides fit. A sentence longer than 64 goes to tiles of 128.
void add_tiles(Block& block, std::span<const int64_t> queries, std::span<const int64_t> keys, bool has_room,
               std::vector<AttentionTiles>& kinds) {
  std::vector<int32_t> numbers[2];
  int64_t query = 0, key = 0, previous = -1;
  for (size_t row = 0; row < queries.size(); ++row) {
    const int64_t kind = std::max(queries[row], keys[row]) > kSmallTile ? 1 : 0, size = kind == 1 ? 128 : kSmallTile;
    auto& tiles = numbers[kind];
    int32_t* last = tiles.empty() ? nullptr : &tiles[tiles.size() - 4];
    if (kind == previous && last[1] + queries[row] <= size && last[3] + keys[row] <= size) {
      last[1] += static_cast<int32_t>(queries[row]);
      last[3] += static_cast<int32_t>(keys[row]);
    } else {
      for (const int64_t number : {query, queries[row], key, keys[row]}) tiles.push_back(static_cast<int32_t>(number));
    }
    query += queries[row];
    key += keys[row];
    previous = kind;
  }
  if (has_room)  // of two neighbours together, one side has more words than a tile
    numbers[0].resize(static_cast<size_t>(4 * (2 * (query + key) / kSmallTile + 1)));
  kinds.reserve(2);
  for (const int64_t kind : {0, 1}) {
    if (numbers[kind].empty()) continue;
    kinds.push_back({.size = kind == 1 ? 128 : kSmallTile, .tiles = {}});
    block.add(numbers[kind], kinds.back().tiles, {std::ssize(numbers[kind]) / 4, 4});
  }
}

}  // namespace

bool fits_into_tiles(const std::vector<int64_t>& source_lengths, const std::vector<int64_t>& target_lengths,
                     int64_t largest_tile) {
  const auto fits = [&](int64_t length) { return length > 0 && length <= largest_tile; };
  return std::ranges::all_of(source_lengths, fits) && std::ranges::all_of(target_lengths, fits);
}

PackedBatch plan_batch(const TensorBatch& batch, const BatchPlanOptions& options, torch::Device device) {
  auto source_lengths = lengths_of(batch.source_lengths), target_lengths = lengths_of(batch.target_lengths);
  const bool has_room = options.rows.has_value();
  if (has_room) add_filling(source_lengths, target_lengths, *options.rows);
  PackedBatch made;
  Block block;
  add_side(block, packed(batch.source, source_lengths), source_lengths, options, made.source);
  add_side(block, packed(batch.target_in, target_lengths), target_lengths, options, made.target);
  add_tiles(block, source_lengths, source_lengths, has_room, made.source_tiles);
  add_tiles(block, target_lengths, target_lengths, has_room, made.target_tiles);
  add_tiles(block, target_lengths, source_lengths, has_room, made.cross_tiles);
  auto labels = packed(batch.target_out, target_lengths);
  const auto rows = static_cast<size_t>(sum(target_lengths));
  if (options.pairs) {
    const size_t half = labels.size() / 2;
    labels.resize(half);
    std::vector<int32_t> paired, places(rows);
    for (size_t token = 0; token < rows / 2; ++token)
      for (const size_t row : {token < half ? token : 2 * token, token < half ? token + half : 2 * token + 1}) {
        places[row] = static_cast<int32_t>(paired.size());
        paired.push_back(static_cast<int32_t>(row));
      }
    block.add(paired, made.paired);
    block.add(places, made.places);
  }
  labels.resize(options.pairs ? rows / 2 : rows, -1);
  block.add(labels, made.labels);
  block.add({static_cast<int32_t>(options.key), static_cast<int32_t>(options.key >> 32)}, made.key, {1}, torch::kInt64);
  block.add({std::bit_cast<int32_t>(static_cast<float>(options.scale))}, made.scale, {1}, torch::kFloat32);
  made.block = block.copy_to(device);
  return made;
}

}  // namespace nmt
