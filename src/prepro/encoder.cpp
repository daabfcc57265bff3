#include "prepro/encoder.h"

#include <future>
#include <memory>
#include <mutex>
#include <optional>

#include "base/threads.h"
#include "text/codec/caching_encoder.h"

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

/// What one thread encodes with.
struct CorpusEncoder::Encoders {
  explicit Encoders(const TextCodec& codec) : source(codec.source()) {
    if (!codec.joint()) separate_target.emplace(codec.target());
  }
  CachingEncoder& target() { return separate_target ? *separate_target : source; }
  CachingEncoder source;
  std::optional<CachingEncoder> separate_target;
};

/// As many as there are threads at work; they last from block to block, with the words they know.
class CorpusEncoder::EncoderPool {
 public:
  explicit EncoderPool(const TextCodec& codec) : codec_(codec) {}
  std::unique_ptr<Encoders> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<Encoders>(codec_);
    auto encoders = std::move(free_.back());
    free_.pop_back();
    return encoders;
  }
  void give_back(std::unique_ptr<Encoders> encoders) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(encoders));
  }

 private:
  const TextCodec& codec_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Encoders>> free_;
};

void CorpusEncoder::run(CorpusReader& reader, const std::function<void(EncodedPair&)>& take,
                        const std::function<bool()>& should_stop) const {
  EncoderPool encoders(codec_);
  auto block = read_block(reader);
  while (!block.empty() && !should_stop()) {
    auto next = std::async(std::launch::async, [&] { return read_block(reader); });
    parallel_for(static_cast<int64_t>(block.size()), kGrain, options_.threads, [&](int64_t begin, int64_t end) {
      auto encoder = encoders.take();
      for (int64_t i = begin; i < end; ++i) encode(block[static_cast<size_t>(i)], *encoder);
      encoders.give_back(std::move(encoder));
    });
    for (auto& pair : block) take(pair);
    block = next.get();
  }
}

void CorpusEncoder::encode(EncodedPair& pair, Encoders& encoders) const {
  pair.text.source = codec_.normalized(pair.text.source);
  std::string target = codec_.normalized(pair.text.target);
  pair.source = codec_.encode_normalized_source(pair.text.source,
                                                [&](std::string_view text) { return encoders.source.encode(text); });
  pair.target = encoders.target().encode(target);
  if (options_.target_text == TargetText::kNormalised) pair.text.target = std::move(target);
}

}  // namespace nmt
