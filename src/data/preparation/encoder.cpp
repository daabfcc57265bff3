#include "data/preparation/encoder.h"

#include <algorithm>
#include <limits>
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
  const auto one_more_than = [](int64_t most) {
    return std::vector<int32_t>(static_cast<size_t>(most) + 1, SpecialIds::kUnknown);
  };
  pair.source = is_longer(pair.text.source, longest_source_)
                    ? one_more_than(options_.most_source_pieces)
                    : codec_.encode_normalized_source(
                          pair.text.source, [&](std::string_view text) { return encoders.source.encode(text); });
  pair.target = is_longer(target, longest_target_) ? one_more_than(options_.most_target_pieces)
                                                   : encoders.target().encode(target);
  if (options_.target_text == TargetText::kNormalised) pair.text.target = std::move(target);
}

}  // namespace nmt
