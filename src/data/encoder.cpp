#include "data/encoder.h"

#include <future>

#include "base/threads.h"
#include "text/normalization.h"

namespace nmt {
namespace {

constexpr size_t kBlockPairs = 8192;
constexpr size_t kBlockBytes = 8 << 20;  // of text: bounds memory where lines are long
constexpr int64_t kGrain = 64;           // pairs a thread at least

std::vector<EncodedPair> read_block(CorpusReader& reader) {
  std::vector<EncodedPair> block;
  block.reserve(kBlockPairs);
  for (size_t bytes = 0; block.size() < kBlockPairs && bytes < kBlockBytes;) {
    EncodedPair pair;
    if (!reader.next(pair.text)) break;
    bytes += pair.text.source.size() + pair.text.target.size();
    block.push_back(std::move(pair));
  }
  return block;
}

}  // namespace

void CorpusEncoder::run(CorpusReader& reader, const std::function<void(EncodedPair&)>& take,
                        const std::function<bool()>& should_stop) const {
  auto block = read_block(reader);
  while (!block.empty() && !should_stop()) {
    auto next = std::async(std::launch::async, [&] { return read_block(reader); });
    parallel_for(static_cast<int64_t>(block.size()), kGrain, options_.threads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) encode(block[static_cast<size_t>(i)]);
    });
    for (auto& pair : block) take(pair);
    block = next.get();
  }
}

void CorpusEncoder::encode(EncodedPair& pair) const {
  const Normalization normalization{.nfkc = codec_.options().nfkc, .lowercase = codec_.options().lowercase};
  pair.text.source = normalize(pair.text.source, normalization);
  std::string target = normalize(pair.text.target, normalization);
  pair.source = codec_.source().encode(pair.text.source);
  pair.target = codec_.target().encode(target);
  if (options_.target_text == TargetText::kNormalised) pair.text.target = std::move(target);
}

}  // namespace nmt
