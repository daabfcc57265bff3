#include "nmt/tokenizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>

#include "base/error.h"
#include "base/process/user_files.h"
#include "base/unicode.h"
#include "config/kinds.h"
#include "config/option_table.h"
#include "config/rules/data_rules.h"
#include "config/value.h"
#include "data/prepared_data.h"
#include "library/inner/guard.h"
#include "scoring/tokenizers/tokenizers.h"
#include "text/moses/moses_detokenizer.h"
#include "text/moses/moses_tokenizer.h"
#include "text/sentence_splitter.h"
#include "text/sentencepiece/sentencepiece_trainer.h"

namespace nmt::api {

class NMT_NOT_EXPORTED Tokenizer::State {
 public:
  explicit State(const std::string& directory) : codec_(load_codec(directory)) {
    for (const auto side : {Side::kSource, Side::kTarget}) {
      auto& ids = side == Side::kSource ? source_ids_ : target_ids_;
      const auto& pieces = tokenizer(side);
      for (int32_t id = 0; id < pieces.size(); ++id) ids.emplace(pieces.piece(id), id);
    }
  }

  const nmt::TextCodec& codec() const { return codec_; }
  const nmt::Tokenizer& tokenizer(Side side) const { return side == Side::kSource ? codec_.source() : codec_.target(); }
  std::optional<int32_t> id(std::string_view piece, Side side) const {
    const auto& ids = side == Side::kSource ? source_ids_ : target_ids_;
    const auto found = ids.find(std::string(piece));
    if (found == ids.end()) return std::nullopt;
    return found->second;
  }
  /// What changes letters has to know them.
  std::string normalized(std::string_view text) const {
    const auto& options = codec_.options();
    const bool changes = options.nfkc || options.lowercase || options.latin_only;
    return changes ? codec_.normalized(repair_utf8(text)) : codec_.normalized(text);
  }
  std::vector<int32_t> encode(std::string_view text, Side side) const {
    return tokenizer(side).encode(normalized(text));
  }

 private:
  nmt::TextCodec codec_;
  std::unordered_map<std::string, int32_t> source_ids_, target_ids_;
};

Tokenizer::Tokenizer(const std::string& directory) {
  guarded([&] {
    require_file_name("directory", directory);
    state_ = std::make_shared<const State>(directory);
  });
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view text, Side side) const {
  return guarded([&] { return state_->encode(text, side); });
}

std::vector<std::string> Tokenizer::encode_pieces(std::string_view text, Side side) const {
  return guarded([&] {
    std::vector<std::string> pieces;
    for (const auto id : state_->encode(text, side)) pieces.push_back(state_->tokenizer(side).piece(id));
    return pieces;
  });
}

std::string Tokenizer::decode(const std::vector<std::int32_t>& ids, Side side) const {
  return guarded([&] {
    const auto& tokenizer = state_->tokenizer(side);
    for (const auto id : ids)
      if (id < 0 || id >= tokenizer.size())
        throw nmt::Error(fmt::format("id {}: the vocabulary has ids 0 to {}", id, tokenizer.size() - 1));
    return tokenizer.decode(ids);
  });
}

std::string Tokenizer::decode_pieces(const std::vector<std::string>& pieces, Side side) const {
  return guarded([&] {
    std::vector<std::int32_t> ids;
    for (const auto& piece : pieces) {
      const auto id = state_->id(piece, side);
      if (!id) throw nmt::Error(fmt::format("'{}' is no piece of the vocabulary", piece));
      ids.push_back(*id);
    }
    return state_->tokenizer(side).decode(ids);
  });
}

std::string Tokenizer::normalized(std::string_view text) const {
  return guarded([&] { return state_->normalized(text); });
}

std::int64_t Tokenizer::size(Side side) const { return state_->tokenizer(side).size(); }

std::string Tokenizer::piece(std::int32_t id, Side side) const {
  return guarded([&] { return state_->tokenizer(side).piece(id); });
}

std::optional<std::int32_t> Tokenizer::id(std::string_view piece, Side side) const { return state_->id(piece, side); }
bool Tokenizer::is_joint() const { return state_->codec().joint(); }

std::string Tokenizer::language(Side side) const {
  const auto& options = state_->codec().options();
  return side == Side::kSource ? options.source_language : options.target_language;
}

namespace {

template <typename Kind>
void check_word_of(std::string_view option, const std::string& word) {
  if (!Choice<Kind>(Kind{}).assign(word))
    throw nmt::Error(fmt::format("{} '{}': one of {}", option, shown(word), fmt::join(kNames<Kind>, ", ")));
}

/// How many there are.
int64_t check_user_symbols(const std::vector<std::string>& symbols) {
  std::unordered_set<std::string_view> seen(kSpecialPieces.begin(), kSpecialPieces.end());
  for (const auto& symbol : symbols) {
    const auto refuse = [&](std::string_view why) {
      throw nmt::Error(fmt::format("user_symbols: '{}' {}", shown(symbol), why));
    };
    const auto is_control = [](unsigned char byte) { return byte < 0x20 || byte == 0x7F; };
    if (symbol.empty()) refuse("is empty; leave it out");
    if (find_invalid_utf8(symbol)) refuse("is not UTF-8");
    if (std::ranges::any_of(symbol, is_control)) refuse("holds a control character; leave it out");
    if (!seen.insert(symbol).second) refuse("is in the vocabulary already; leave it out");
  }
  return std::ssize(symbols);
}

/// What an option of the section `data` may be.
const Range& range_of(std::string_view name) { return std::get<Range>(find_option("data", name)->limits); }

/// The checks of nmt-prepro for its section `data`: SentencePiece's own messages speak of its source code.
void check_spm_options(const SentencePieceOptions& options) {
  const auto most_pieces = static_cast<int64_t>(range_of("vocab_size").max);
  const Range& coverage = range_of("character_coverage");
  check_word_of<SentencePieceType>("type", options.type);
  check_word_of<NormalizationRule>("normalization", options.normalization);
  if (!(options.character_coverage >= coverage.min && options.character_coverage <= coverage.max))
    throw nmt::Error(
        fmt::format("character_coverage {}: use {} to {}", options.character_coverage, coverage.min, coverage.max));
  const int64_t fixed_pieces = fixed_piece_count(check_user_symbols(options.user_symbols), options.byte_fallback);
  if (options.vocab_size <= fixed_pieces || options.vocab_size > most_pieces)
    throw nmt::Error(fmt::format(
        "vocab_size {}: use {} to {}; {} pieces are fixed (special ones, user_symbols, the bytes of byte_fallback)",
        options.vocab_size, fixed_pieces + 1, most_pieces, fixed_pieces));
}

}  // namespace

std::string train_sentencepiece(const std::vector<std::string>& lines, const SentencePieceOptions& options) {
  return guarded([&] {
    check_spm_options(options);
    const nmt::SentencePieceOptions inner{.type = options.type,
                                          .vocab_size = options.vocab_size,
                                          .character_coverage = options.character_coverage,
                                          .byte_fallback = options.byte_fallback,
                                          .user_symbols = options.user_symbols,
                                          .normalization = options.normalization,
                                          .option = "vocab_size"};
    auto model = nmt::train_sentencepiece(nmt::TrainingText(lines), inner,
                                          [stop = options.stop] { return stop.stop_requested(); });
    if (!model) throw Stopped("the training of SentencePiece was stopped");
    return std::move(*model);
  });
}

MetricTokenizer::MetricTokenizer(const std::string& name, const std::string& sentencepiece_model) {
  guarded([&] { tokenizer_ = scoring::make_tokenizer(name, sentencepiece_model); });
}

std::string MetricTokenizer::tokenize(std::string_view text) const {
  return guarded([&] { return std::static_pointer_cast<const scoring::BleuTokenizer>(tokenizer_)->tokenize(text); });
}

std::vector<std::string> metric_tokenizers() { return scoring::tokenizer_names(); }

std::string moses_tokenize(std::string_view text, const std::string& language, bool escape, bool split_dashes) {
  return guarded([&] {
    return MosesTokenizer(moses_language(language), {.aggressive_dash_splits = split_dashes, .escape = escape})
        .tokenize(text);
  });
}

std::string moses_detokenize(std::string_view tokens, const std::string& language, bool unescape) {
  return guarded([&] { return MosesDetokenizer(moses_language(language), {.unescape = unescape}).detokenize(tokens); });
}

std::vector<std::string> split_sentences(std::string_view text, const std::string& language) {
  return guarded([&] {
    const SentenceSplitter splitter(language);
    const auto sentences = splitter.split(text);
    return std::vector<std::string>(sentences.begin(), sentences.end());
  });
}

}  // namespace nmt::api
