#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "config/config.h"
#include "search/search.h"
#include "search/searchable_model.h"
#include "text/codec/codec.h"
#include "text/pairs/pair_reader.h"
#include "text/sentence_splitter.h"
#include "translation/lines/line_jobs.h"
#include "translation/lines/request.h"
#include "translation/lines/source_parts.h"
#include "translation/shortlist.h"

namespace nmt {

struct PartPrefix;

struct TranslatorOptions {
  SearchOptions search = {};         ///< the section `decoding` among it
  bool split_sentences = false;      ///< a line's sentences are translated one by one and joined again
  TermOptions terms = {};            ///< of requests that have none of their own
  int64_t max_source_length = 1024;  ///< pieces; longer input is split at spaces (reported in Translation::split)
  void validate() const;             ///< throws Error
};

/// What the decoding section says.
inline TranslatorOptions translator_options(const Config& config) { return {.search = {config.decoding}}; }

/// Lowers the greatest lengths to what this model takes, too: tables of positions have an end. Translator does it for
/// each of its models.
void limit_to(const SearchableModel& model, SourceMarkers markers, TranslatorOptions& options);

/// Throws Error for a weight that TranslatorModel cannot have.
void require_model_weight(double weight);

/// A model that translates, alone or with others, with its own way from text to ids.
struct TranslatorModel {
  SearchableModel* model = nullptr;
  const TextCodec* codec = nullptr;
  double weight = 1;                                 ///< of its vote; more than 0. Weights are divided by their sum
  std::shared_ptr<const Lexicon> lexicon = nullptr;  ///< TranslatorOptions::shortlist takes that of the first model
};

/// Raw text to raw text with one model or several. A line's translation does not depend on the other lines.
class Translator {
 public:
  /// Borrows both: they must outlive it, and the model keeps its weights. Throws Error for options out of range.
  Translator(SearchableModel& model, const TextCodec& codec, TranslatorOptions options);
  /// An ensemble: each token is chosen by all models together (SearchOptions::combination). They write with the same
  /// target pieces (require_one_target) and stand on one device.
  Translator(std::vector<TranslatorModel> models, TranslatorOptions options);

  /// Any number of lines, results in their order; sorted by length inside, so many lines at once are faster. An empty
  /// line (or only white space) gives an empty one; a translation never holds a line end. Puts the models into
  /// evaluation mode while it works. first_line: the number of lines[0] in the whole text: samples are keyed by the
  /// line.
  std::vector<Translation> translate(std::span<const std::string> lines, const TranslationCalls& calls = {},
                                     int64_t first_line = 0) const;

  /// The same with constraints for each line. Prefixes and phrases are compared as pieces, as the tokenizer splits
  /// them. A phrase or prefix that it cannot write without <unk> is not met. Of a line in several parts the prefix
  /// continues from part to part (divide_prefix), and the phrases that must appear belong to the longest of those that
  /// it leaves open.
  std::vector<Translation> translate(std::span<const Request> requests, const TranslationCalls& calls = {},
                                     int64_t first_line = 0) const;

  /// Scores given translations by the steps of the search: the score is that which the search gives the same pieces.
  /// (It may have found the text in other pieces than those in which the tokenizer writes it; then scores differ.) One
  /// result a pair, text as given. Bans, constraints and sampling are left aside; a pair of empty lines scores 0.
  /// Throws Error with a shortlist, whose scores are not the model's.
  std::vector<Alternative> score(std::span<const TextPair> pairs, const TranslationCalls& calls = {}) const;

  /// Lines that come in while others are translated: they join the search under way, where the models can do that
  /// (search()); a short one that is alone is translated by all threads together. Returns when all threads were told to
  /// end (SentenceQueue::wait). What one of them throws ends the others.
  void translate(TranslationQueue& lines) const;
  /// The threads that call such a queue, at most.
  int64_t worker_limit() const;
  /// Whether the models have attention, by which words are aligned.
  bool aligns() const;

  const TranslatorOptions& options() const { return options_; }      ///< within the limits of all models
  const TextCodec& codec() const { return *models_.front().codec; }  ///< the first model's

 private:
  void begin(LineJob& line) const;   // text to parts
  bool finish(LineJob& line) const;  // what was found for the parts to text; false: they are to be searched again
  PartQueue::Steps steps() const;    // these two
  std::vector<Translation> search_all(std::span<const Request> requests, PartQueue::Steps steps,
                                      const SearchOptions& options, const TranslationCalls& calls,
                                      int64_t first_line) const;
  void search_ready(PartQueue& parts, const SearchOptions& options) const;
  void search_in_threads(SearchQueue& queue, const SearchOptions& options, int64_t batch_size, int64_t workers) const;
  std::vector<SourcePart> parts_of(std::string_view line, bool split, const std::function<bool()>& stopped,
                                   Translation& result) const;
  bool needs_words(const LineJob& line) const;  // that belong together, and may have them
  bool has_terms(const LineJob& line) const;    // that were to appear
  void add_constraints(std::span<const SourcePart> sources, LineJob& line) const;
  bool force_prefix(const PartPrefix& prefix, LinePart& part) const;
  void force(std::span<const std::string> phrases, LinePart& part) const;

  std::deque<TextCodec> tagged_;  // of the models, with decoding.source_language and target_language
  std::vector<TranslatorModel> models_;
  std::vector<const TextCodec*> codecs_;
  SentenceSplitter sentences_;
  std::optional<Shortlist> shortlist_;
  TranslatorOptions options_;
  int64_t wanted_ = 1;  // translations of a line, where its request does not say it; the search may give more
  std::unique_ptr<std::once_flag> alignment_known_ = std::make_unique<std::once_flag>();
  mutable bool aligns_ = false;
  std::unique_ptr<SearchGroup> group_;
};

}  // namespace nmt
