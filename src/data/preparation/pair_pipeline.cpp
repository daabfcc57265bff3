#include "data/preparation/pair_pipeline.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/ordered_pipeline.h"

namespace nmt {
namespace {

constexpr size_t kBlockPairs = 1024;
constexpr size_t kBlockBytes = 1 << 20;  // of text: bounds memory where lines are long
constexpr int kMaxThreads = 128;         // more would wait for the one that reads or writes

struct Block {
  std::vector<EncodedPair> pairs;
  std::exception_ptr error;  // of reading what follows these pairs
};

void read_block(CorpusReader& reader, Block& block) {
  block.pairs.clear();
  block.pairs.reserve(kBlockPairs);
  try {
    for (size_t bytes = 0; block.pairs.size() < kBlockPairs && bytes < kBlockBytes;) {
      EncodedPair pair;
      if (!reader.next(pair.text)) break;
      bytes += pair.text.source.size() + pair.text.target.size();
      block.pairs.push_back(std::move(pair));
    }
  } catch (...) {
    block.error = std::current_exception();
  }
}

}  // namespace

void run_pairs(CorpusReader& reader, int threads, const PairStages& stages) {
  threads = std::clamp(threads, 1, kMaxThreads);
  const int64_t slots = 2 * threads + 2;
  std::vector<Block> blocks(static_cast<size_t>(slots));
  const auto block_of = [&](int64_t slot) -> Block& { return blocks[static_cast<size_t>(slot)]; };
  bool ended = false;
  run_ordered_pipeline({.read =
                            [&](int64_t slot) {
                              if (ended) return false;
                              Block& block = block_of(slot);
                              read_block(reader, block);
                              ended = block.error || block.pairs.empty();
                              return block.error || !block.pairs.empty();
                            },
                        .transform =
                            [&](int64_t slot, int worker) {
                              for (auto& pair : block_of(slot).pairs) stages.transform(pair, worker);
                            },
                        .write =
                            [&](int64_t slot) {
                              Block& block = block_of(slot);
                              for (auto& pair : block.pairs) stages.take(pair);
                              if (block.error) std::rethrow_exception(block.error);
                              return !stages.should_stop();
                            }},
                       threads, slots);
}

}  // namespace nmt
