#include "data/preparation/encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/threads.h"
#include "text/codec/codec.h"

namespace nmt {
namespace {

constexpr size_t kBlockPairs = 1024;
constexpr size_t kBlockBytes = 1 << 20;  // of text: bounds memory where lines are long
constexpr int kMaxThreads = 128;         // more would wait for the one that reads or writes

struct Block {
  std::vector<EncodedPair> pairs;
  std::exception_ptr error;  // of reading what follows these pairs
};

Block read_block(CorpusReader& reader) {
  Block block;
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
  return block;
}

/// A block, and the task that transforms it; the task is waited for before the block goes.
struct BlockAtWork {
  Block block;
  std::future<void> transformed;
};

}  // namespace

void run_pairs(CorpusReader& reader, int threads, const PairStages& stages) {
  threads = std::clamp(threads, 1, kMaxThreads);
  // One block more than threads: they have work while this thread takes.
  const int64_t most = threads > 1 ? threads + 1 : 1;
  const auto run = [policy = threads > 1 ? std::launch::async : std::launch::deferred](auto body) {
    try {
      return std::async(policy, std::move(body));
    } catch (const std::system_error& error) {
      throw_no_thread(error);
    }
  };
  const auto read = [&reader] { return read_block(reader); };
  std::deque<BlockAtWork> at_work;
  bool ended = false;
  auto next = run(read);
  for (int64_t number = 0;;) {
    while (!ended && std::ssize(at_work) < most) {
      auto block = next.get();
      ended = block.error || block.pairs.empty();
      if (!ended) next = run(read);
      if (block.pairs.empty() && !block.error) break;
      auto& added = at_work.emplace_back();
      added.block = std::move(block);
      const int worker = static_cast<int>(number++ % most);
      added.transformed = run([&stages, &added, worker] {
        for (auto& pair : added.block.pairs) stages.transform(pair, worker);
      });
    }
    if (at_work.empty()) return;
    auto& first = at_work.front();
    first.transformed.get();
    for (auto& pair : first.block.pairs) stages.take(pair);
    if (first.block.error) std::rethrow_exception(first.block.error);
    if (stages.should_stop()) return;
    at_work.pop_front();
  }
}

namespace {

/// Bytes, spaces not counted, that surely make more than `most` pieces. Normalisation may take some away, hence more
/// than the longest pieces have.
size_t longest_text(const Tokenizer& tokenizer, int64_t most) {
  constexpr size_t kReserve = 16;
  if (most == 0) return std::numeric_limits<size_t>::max();
  size_t longest = 1;
  for (int32_t id = 0; id < tokenizer.size(); ++id) longest = std::max(longest, tokenizer.piece(id).size());
  return kReserve * longest * static_cast<size_t>(most);
}

bool is_longer(std::string_view text, size_t longest) {
  return text.size() > longest && text.size() - static_cast<size_t>(std::ranges::count(text, ' ')) > longest;
}

}  // namespace

CorpusEncoder::CorpusEncoder(const TextCodec& codec, Options options)
    : codec_(codec),
      options_(options),
      longest_source_(longest_text(codec.source(), options.most_source_pieces)),
      longest_target_(longest_text(codec.target(), options.most_target_pieces)) {}

void CorpusEncoder::run(CorpusReader& reader, const std::function<void(EncodedPair&)>& take,
                        const std::function<bool()>& should_stop) const {
  const auto transform = [&](EncodedPair& pair, int) { encode(pair); };
  run_pairs(reader, options_.threads, {.transform = transform, .take = take, .should_stop = should_stop});
}

void CorpusEncoder::encode(EncodedPair& pair) const {
  pair.text.source = codec_.normalized(pair.text.source);
  std::string target = codec_.normalized(pair.text.target);
  pair.hashes = PairHashes(pair.text.source, target);
  if (options_.content) pair.hashes.content = options_.content->judge(pair.text.source, target);
  const auto one_more_than = [](int64_t most) {
    return std::vector<int32_t>(static_cast<size_t>(most) + 1, SpecialIds::kUnknown);
  };
  pair.source = is_longer(pair.text.source, longest_source_) ? one_more_than(options_.most_source_pieces)
                                                             : codec_.encode_normalized_source(pair.text.source);
  pair.target = is_longer(target, longest_target_) ? one_more_than(options_.most_target_pieces)
                                                   : codec_.tagged_target(codec_.target().encode(target));
  if (options_.target_text == TargetText::kNormalised) pair.text.target = std::move(target);
}

void require_room_for_sentence(const TextCodec& codec, const DataConfig& data) {
  const int64_t prefix = codec.prefix_length(), markers = marker_count(data.source_markers);
  if (prefix + markers >= data.maxlen1)
    throw Error(
        fmt::format("data.maxlen1: {} leaves no room for a sentence: the pieces of data.source_prefix ({}) and the "
                    "tokens of data.source_markers ({}) count, too; raise it",
                    data.maxlen1, prefix, markers));
}

int64_t cut_to_maxlen(EncodedPair& pair, const DataConfig& data) {
  const auto cut = [](std::vector<int32_t>& pieces, int64_t limit) -> int64_t {
    const auto kept = static_cast<size_t>(std::max<int64_t>(limit, 0));
    if (pieces.size() <= kept) return 0;
    pieces.resize(kept);
    return 1;
  };
  return cut(pair.source, data.maxlen1 - marker_count(data.source_markers)) + cut(pair.target, data.maxlen2 - 1);
}

}  // namespace nmt
