#include "data/preparation/encoder.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "text/codec/caching_encoder.h"

namespace nmt {

/// What one thread encodes with; it remembers words from pair to pair.
struct CorpusEncoder::Encoders {
  explicit Encoders(const TextCodec& codec) : source(codec.source()) {
    if (!codec.joint()) separate_target.emplace(codec.target());
  }
  CachingEncoder& target() { return separate_target ? *separate_target : source; }
  CachingEncoder source;
  std::optional<CachingEncoder> separate_target;
};

void CorpusEncoder::run(CorpusReader& reader, const std::function<void(EncodedPair&)>& take,
                        const std::function<bool()>& should_stop) const {
  std::vector<std::unique_ptr<Encoders>> encoders(static_cast<size_t>(std::max(options_.threads, 1)));
  const auto transform = [&](EncodedPair& pair, int worker) {
    auto& own = encoders[static_cast<size_t>(worker)];
    if (!own) own = std::make_unique<Encoders>(codec_);  // on its thread, where its memory is at hand
    encode(pair, *own);
  };
  run_pairs(reader, options_.threads, {.transform = transform, .take = take, .should_stop = should_stop});
}

void CorpusEncoder::encode(EncodedPair& pair, Encoders& encoders) const {
  pair.text.source = codec_.normalized(pair.text.source);
  std::string target = codec_.normalized(pair.text.target);
  pair.hashes = PairHashes(pair.text.source, target);
  pair.source = codec_.encode_normalized_source(pair.text.source,
                                                [&](std::string_view text) { return encoders.source.encode(text); });
  pair.target = encoders.target().encode(target);
  if (options_.target_text == TargetText::kNormalised) pair.text.target = std::move(target);
}

}  // namespace nmt
