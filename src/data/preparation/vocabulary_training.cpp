#include "data/preparation/vocabulary_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "base/process/log.h"
#include "base/random.h"
#include "config/languages.h"
#include "text/augmentation.h"
#include "text/codec/codec.h"
#include "text/codec/language_tags.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/sentencepiece/sentencepiece_trainer.h"

namespace nmt {
namespace {

TextCodec::Options codec_options(const DataConfig& data) {
  return {.lowercase = data.lowercase,
          .nfkc = data.nfkc,
          .latin_only = data.characters == CharacterSet::kLatin,
          .source_language = data.source_language,
          .target_language = data.target_language,
          .source_markers = data.source_markers,
          .reverse_source = data.reverse_source,
          .source_prefix = data.source_prefix};
}

TextCodec::Options ready_options(const TextCodec& ready, const DataConfig& data) {
  auto options = codec_options(data);
  options.tags_both_sides = ready.options().tags_both_sides;
  return options;
}

std::vector<std::string> language_tags(const DataConfig& data) {
  std::vector<std::string> tags;
  for (const auto& language : tagged_languages(data)) tags.push_back(language_tag(language));
  return tags;
}

/// SentencePiece finds a symbol with a space only if its own normalisation leaves it as it is.
void refuse_unread_symbols(const Tokenizer& tokenizer, const std::vector<std::string>& symbols) {
  for (const auto& symbol : symbols) {
    std::string piece;
    for (const char c : symbol) piece += c == ' ' ? std::string(kSpaceMark) : std::string(1, c);
    const auto ids = tokenizer.encode(symbol);
    if (std::ranges::any_of(ids, [&](int32_t id) { return tokenizer.piece(id) == piece; })) continue;
    throw Error(
        fmt::format("data.user_symbols: '{}' is found in no text: data.normalization makes it '{}'; write it "
                    "so, or leave it out",
                    symbol, tokenizer.decode(ids)));
  }
}

/// "; about 0:36": of BPE, which takes some 0.8 s for each MB of different words and 1,000 pieces on a core of an AMD
/// EPYC (0.6 to 0.9 from 0.3 to 2.4 MB and 2,000 to 32,000 pieces). Empty where that is nothing to wait for.
std::string expected_time(const TrainingText& text, int64_t pieces) {
  if (text.counted_bytes == 0) return "";
  double bytes = 0;
  for (const auto& word : text.lines) bytes += static_cast<double>(word.size());
  const double seconds = 0.8e-9 * bytes * static_cast<double>(pieces);
  return seconds < 5 ? "" : fmt::format("; about {}", format_duration(seconds));
}

}  // namespace

VocabularyTraining::VocabularyTraining(const DataConfig& data, uint64_t seed, int threads,
                                       const std::optional<TextCodec>& ready)
    : data_(data),
      seed_(seed),
      threads_(threads),
      ready_(ready ? std::optional(ready->with(ready_options(*ready, data))) : std::nullopt),
      first_{data.joint_vocabulary ? "both sides" : "source", SentenceSample(data.spm_sentences, seed)},
      second_{"target", SentenceSample(data.spm_sentences, seed + 1)} {}

std::vector<std::string> VocabularyTraining::file_names() const {
  if (ready_) return ready_->file_names();
  return TextCodec::file_names(of_words(), data_.joint_vocabulary, codec_options(data_));
}

void VocabularyTraining::refuse_lost_symbols() const {
  for (const auto& symbol : data_.user_symbols) {
    const std::string in_text = normalize(symbol, codec_options(data_).normalization());
    if (in_text != symbol)
      throw Error(
          fmt::format("data.user_symbols: '{}' is found in no text: data.lowercase, nfkc or characters makes it '{}'; "
                      "write it so, or leave it out",
                      symbol, in_text));
  }
}

void VocabularyTraining::offer(std::string_view source, std::string_view target) {
  if (!is_learnt()) return;
  offer(first_, source);
  offer(data_.joint_vocabulary ? first_ : second_, target);
}

void VocabularyTraining::offer(Side& side, std::string_view line) {
  if (line.empty()) return;
  if (of_words()) {
    side.words.add(line);
  } else if (sentencepiece_skips(line)) {
    ++side.skipped;
  } else if (CounterRandom({seed_, static_cast<uint64_t>(side.sample.offered())}).uniform() < data_.spm_upper) {
    side.sample.offer(changed_text(line, {}, {.upper = true}));
  } else {
    side.sample.offer(line);
  }
}

bool VocabularyTraining::needs_seed() const {
  return first_.sample.is_partial() || second_.sample.is_partial() || (!of_words() && data_.spm_upper > 0);
}

std::optional<TextCodec> VocabularyTraining::make_codec(const std::function<bool()>& should_stop, Logger& log) {
  if (ready_) {
    log.info("training.init_from: the model's own vocabulary, {} and {} pieces, {}",
             with_commas(ready_->source().size()), with_commas(ready_->target().size()),
             ready_->joint() ? "one for both languages" : "one for each language");
    return ready_;
  }
  MaybeTokenizer source, target;
  if (is_learnt()) {
    source = learn(first_, should_stop, log);
    if (source) target = data_.joint_vocabulary ? source : learn(second_, should_stop, log);
    if (!target) return std::nullopt;
    if (!of_words()) {
      refuse_unread_symbols(*source, data_.user_symbols);
      refuse_unread_symbols(*target, data_.user_symbols);
    }
  } else {
    const auto& [path1, path2] =
        of_words() ? std::tie(data_.vocabulary1, data_.vocabulary2) : std::tie(data_.spm_model1, data_.spm_model2);
    source = load_given(of_words() ? "data.vocabulary1" : "data.spm_model1", path1, log);
    target =
        data_.joint_vocabulary ? source : load_given(of_words() ? "data.vocabulary2" : "data.spm_model2", path2, log);
  }
  return TextCodec(codec_options(data_), std::move(source), std::move(target));
}

auto VocabularyTraining::load_given(const char* option, const std::string& path, Logger& log) const -> MaybeTokenizer {
  try {
    if (of_words()) {
      auto tokenizer = WordTokenizer::load(path, limits());
      log.info(
          "{} {}: {} words with a count of {} or more (data.word_ties and data.count_markup, which are for learning, "
          "are not used)",
          option, path, with_commas(tokenizer->size()), data_.min_cnt);
      return tokenizer;
    }
    auto tokenizer = SentencePieceTokenizer::load(path);
    log.info(
        "{} {}: {} pieces (data.vocab_size, spm_type, normalization, character_coverage and spm_sentences, which are "
        "for learning, are not used)",
        option, path, with_commas(tokenizer->size()));
    return tokenizer;
  } catch (const Error& error) {
    throw Error(fmt::format("{} {}", option, error.what()));
  }
}

auto VocabularyTraining::learn(Side& side, const std::function<bool()>& should_stop, Logger& log) const
    -> MaybeTokenizer {
  return of_words() ? learn_words(side, log) : learn_pieces(side, should_stop, log);
}

auto VocabularyTraining::learn_words(const Side& side, Logger& log) const -> MaybeTokenizer {
  auto tokenizer =
      std::make_shared<const WordTokenizer>(side.words.to_tsv(data_.word_ties), "words of the training text", limits());
  log.info("words: {}, {} different ones, a vocabulary of {} (data.min_cnt {}, data.vocab_size {})", side.what,
           with_commas(side.words.size()), with_commas(tokenizer->size()), data_.min_cnt,
           with_commas(data_.vocab_size));
  return tokenizer;
}

auto VocabularyTraining::learn_pieces(Side& side, const std::function<bool()>& should_stop, Logger& log) const
    -> MaybeTokenizer {
  if (side.skipped > 0) {
    log.warn("{} of more than 10,000 bytes or with U+2585 {} not learnt from, SentencePiece does not take {}",
             side.skipped == 1 ? "1 line" : with_commas(side.skipped) + " lines", side.skipped == 1 ? "is" : "are",
             side.skipped == 1 ? "it" : "them");
  }
  const int64_t offered = side.sample.offered();
  const bool partial = side.sample.is_partial();
  TrainingText text(side.sample.take());
  const auto lines = std::ssize(text.lines);
  const SentencePieceOptions options{.type = data_.spm_type.name(),
                                     .vocab_size = data_.vocab_size,
                                     .character_coverage = data_.character_coverage,
                                     .byte_fallback = data_.byte_fallback,
                                     .user_symbols = data_.user_symbols,
                                     .tags = &side == &first_ ? language_tags(data_) : std::vector<std::string>(),
                                     .normalization = data_.normalization.name()};
  text.count_words(options, threads_);
  log.info("SentencePiece: {} model of {} pieces, {}, {} lines{}{}", data_.spm_type.name(),
           with_commas(data_.vocab_size), side.what, with_commas(lines),
           partial ? fmt::format(", a sample of {} (data.spm_sentences)", with_commas(offered)) : "",
           expected_time(text, data_.vocab_size));
  auto model = train_sentencepiece(text, options, should_stop);
  if (!model) return nullptr;
  return std::make_shared<const SentencePieceTokenizer>(std::move(*model), "the SentencePiece model");
}

}  // namespace nmt
