#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nmt/decoding_options.h"
#include "nmt/error.h"
#include "nmt/export.h"
#include "nmt/log.h"
#include "nmt/stop_token.h"

NMT_API_BEGIN

/// Which models translate, and on what.
struct TranslatorOptions {
  std::vector<std::string> models = {};  ///< model directories; several translate together, as an ensemble
  std::vector<double> weights = {};      ///< of an ensemble's votes, one a model; empty: all the same
  std::string device = "auto";           ///< auto (a GPU where there is one), cpu, cuda, cuda:N
  int threads = 0;                       ///< of one call of translate(); 0: all processors
  std::optional<std::int64_t> max_source_length = {};  ///< pieces; a longer text is translated in parts
  DecodingOptions decoding = {};  ///< in place of what model.json says, for all calls; the precision is chosen here
  std::string adapter = {};       ///< adapter.safetensors of the one model, added to its weights; empty: none
};

/// Sets an option by its name ("beam_size", "decoding.beam_size") to a value as YAML has it. Throws UserError for a
/// name that there is not, and for a value that it cannot have.
NMT_EXPORT void set_option(DecodingOptions& options, const std::string& name, const std::string& value);

/// One of the models of a translator.
struct ModelInformation {
  std::string directory;                                      ///< as it was given
  std::string source_language, target_language;               ///< as the model says; may be empty
  std::int64_t parameters = 0;                                ///< weights
  std::int64_t source_vocabulary = 0, target_vocabulary = 0;  ///< pieces
  std::string precision;                                      ///< of decoding: fp32, bf16 or int8
  std::string configuration;                                  ///< of the model and its training, YAML
};

/// Terms and what they become in every translation: a line a term, SOURCE, a tab, TARGET, and perhaps a tab and flags
/// divided by commas: `case` (the text has the source in this case only), `keep` (stays as it is; no target). Copies
/// share the terms.
class NMT_EXPORT Glossary {
 public:
  Glossary();  ///< no terms
  /// Throws UserError ("NAME:LINE: ...").
  static Glossary parse(std::string_view lines, const std::string& name = "glossary");
  static Glossary read(const std::string& file);  ///< the same, of a file
  std::size_t size() const;                       ///< terms

 private:
  friend struct Access;
  std::shared_ptr<const void> terms_;
};

/// How texts are translated and what is told of it.
struct TranslateOptions {
  DecodingOptions decoding = {};  ///< in place of what TranslatorOptions and model.json say
  std::int64_t n_best = 1;        ///< translations of each text, at most the beam size; samples: any number

  // For every text, beside what its Request says.
  std::string prefix = {};                            ///< each translation begins so
  std::vector<std::string> must = {}, must_not = {};  ///< phrases that each holds, or that none holds
  Glossary glossary = {};                             ///< terms and their translations
  bool keep_placeholders = false;                     ///< addresses, {name}, %s stay as they are
  /// A text is a paragraph: its sentences are translated one by one. Unset: in documents, where the model's lines are
  /// sentences.
  std::optional<bool> split_sentences = {};
  bool copy_unknown = false;  ///< puts for `<unk>` the source word that it looks at most

  // What is told of each translation.
  bool token_scores = false;  ///< Alternative::pieces and token_scores
  bool alignment = false;     ///< Alternative::alignment; the models need attention
  bool attention = false;     ///< Alternative::attention; the same

  std::int64_t first_line = 0;  ///< the number of the first text, for samples
  StopToken stop = {};          ///< ends the call, which throws Stopped
  /// Called with the number of texts done so far. By one thread at a time, but any; what it throws ends the call.
  std::function<void(std::int64_t done)> progress = {};
};

/// A text and the constraints of its translation.
struct Request {
  std::string source = {};                            ///< UTF-8
  std::string prefix = {};                            ///< in place of TranslateOptions::prefix where it is not empty
  std::vector<std::string> must = {}, must_not = {};  ///< beside those of TranslateOptions
};

/// The attention between the pieces of a text and those of its translation: how much a row looks at a column.
struct AttentionMatrix {
  std::vector<std::string> rows;     ///< pieces of the translation, with `</s>` where it is finished
  std::vector<std::string> columns;  ///< pieces of the source
  std::vector<float> weights;        ///< [rows, columns], row-major; a row sums to at most 1
};

/// Two words that belong together: what stands between white space in text and translation, counted from 0.
struct AlignedPair {
  std::int32_t source = 0, target = 0;  ///< numbers of the words
};

/// One of the n best translations of a text.
struct Alternative {
  std::string text;               ///< UTF-8, without line ends
  double score = 0;               ///< log_probability / length penalty + coverage penalty: what the search ranks by
  double log_probability = 0;     ///< natural logarithm, the end symbol included
  std::int64_t tokens = 0;        ///< pieces, the end symbol included
  bool finished = true;           ///< false: cut at the length limit
  bool meets_constraints = true;  ///< it begins with the prefix, and every phrase that must appear stands in it
  bool shortened = false;         ///< of score(): a side was longer than the model takes and was cut
  std::vector<std::string> pieces = {};         ///< with token_scores: [tokens], `</s>` where it is finished
  std::vector<float> token_scores = {};         ///< with token_scores: [tokens], log-probabilities
  std::vector<AlignedPair> alignment = {};      ///< with alignment: in the order of the translation's words
  std::vector<AttentionMatrix> attention = {};  ///< with attention: one for each part that was searched alone
  std::optional<double> expected_utility = {};  ///< with decoding.mbr: chrF or BLEU beside the others, 0 to 100
};

/// What became of a text.
struct Translation {
  std::string text;  ///< that of the best alternative; empty where the text is empty or white space
  /// n best, best first: finished ones, then those with more of what must stand in them, then by score. Fewer where the
  /// search found fewer; none for no text.
  std::vector<Alternative> alternatives;
  std::int64_t source_tokens = 0, target_tokens = 0;  ///< pieces; the target's with end symbols
  bool split = false;     ///< the text was longer than the model takes and was translated in parts
  bool repaired = false;  ///< it was not UTF-8: what is not was read as U+FFFD
};

/// Gives the next line; false: there are no more.
using LineSource = std::function<bool(std::string& line)>;
/// Takes the translation of line `number`, from 0, all of them in order; false: no more are wanted.
using TranslationSink = std::function<bool(std::int64_t number, const Translation& translation)>;

/// How a stream of lines is cut into calls of translate().
struct StreamOptions {
  std::int64_t block_lines = 2048;     ///< lines that are read before they are translated; 1: each at once
  std::int64_t block_bytes = 8 << 20;  ///< or about so many bytes
};

/// What translate_file() did.
struct FileStatistics {
  std::int64_t lines = 0, source_tokens = 0, target_tokens = 0;  ///< read, and their pieces
  std::int64_t repaired = 0;                                     ///< lines that were not UTF-8
  std::int64_t split = 0;                                        ///< lines in parts
  std::int64_t cut = 0;                                          ///< translations at the length limit
  double seconds = 0;                                            ///< of translating
};

/// Raw text to raw text with a model or an ensemble, as nmt-translate does it: the same options give the same bytes.
///
/// Texts are UTF-8 and one unit each: a sentence, or a paragraph with split_sentences. What is not UTF-8 is read as
/// U+FFFD. A text's translation does not depend on the others
/// (on a CPU).
///
/// Copies share the models. Any number of threads may call a translator at the same time; each call has `threads`
/// threads of its own (on a GPU calls wait for each other). A translator may be destroyed while calls are under way:
/// they continue to their end. A process made by fork() makes a translator of its own, and only where its parent has
/// called none.
///
/// Calls throw UserError (an option out of range, models without attention where it is wanted), MachineError, Stopped,
/// and what callbacks throw.
class NMT_EXPORT Translator {
 public:
  /// Loads the models, with all that a later call may want of their directories. Throws UserError for a folder that is
  /// no model or a damaged one, models that write with other target pieces, a device that is not there, an option out
  /// of range.
  explicit Translator(const TranslatorOptions& options);
  /// The same for one model directory with all else as by default.
  explicit Translator(const std::string& model);

  /// One translation for each text, in order. Many texts at once are faster: inside they are sorted by length.
  std::vector<Translation> translate(const std::vector<std::string>& texts, const TranslateOptions& options = {}) const;
  /// The same with constraints of each text.
  std::vector<Translation> translate_requests(const std::vector<Request>& requests,
                                              const TranslateOptions& options = {}) const;
  /// The best translation of one text.
  std::string translate_one(const std::string& text) const;

  /// Reads lines, translates them block by block and hands over the translations in order; source and sink are called
  /// by this call alone, never at the same time. Memory is bounded by the block. Returns the number of lines handed
  /// over, with the one at which the sink wanted no more.
  std::int64_t translate_stream(const LineSource& source, const TranslationSink& sink,
                                const TranslateOptions& options = {}, const StreamOptions& stream = {}) const;

  /// Lines of a file, plain, gzip or zstd, to a file with a line each, which appears when it is complete. `log` hears
  /// of lines that were repaired or split. Throws UserError where the input cannot be read, or more than one
  /// translation of a line is asked for.
  FileStatistics translate_file(const std::string& input, const std::string& output,
                                const TranslateOptions& options = {}, const LogSink& log = {}) const;

  /// A document with its text translated and all else as it was. format: html, xml, srt, vtt, po, xliff, docx, pptx,
  /// odt, odp, epub or txt. Throws UserError for a damaged one, and for options of single texts: n_best,
  /// prefix, must, must_not, token_scores, alignment, attention.
  std::string translate_document(std::string_view bytes, const std::string& format,
                                 const TranslateOptions& options = {}) const;

  /// Scores given translations as the search would score them; one result a pair, which has the target as its text.
  /// Of the options the penalties of length and coverage, batch_size, token_scores, alignment, attention, stop and
  /// progress count. Throws UserError where the numbers of sources and targets differ, and for options of a search
  /// (beam_size, n_best, ...).
  std::vector<Alternative> score(const std::vector<std::string>& sources, const std::vector<std::string>& targets,
                                 const TranslateOptions& options = {}) const;

  /// What is told of each model, in the order of TranslatorOptions::models.
  std::vector<ModelInformation> models() const;
  bool has_attention() const;  ///< whether alignment and attention can be had

  class State;  ///< the library's own

 private:
  std::shared_ptr<const State> state_;
};

NMT_API_END
