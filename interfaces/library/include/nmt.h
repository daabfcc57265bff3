/** @file
 * nmt: a neural machine translation toolkit. The C interface, for programs in C and in other languages.
 *
 * Objects are opaque. What a function makes, its caller frees with the function of its type; freeing NULL does nothing.
 * Texts are UTF-8. A text that goes in is bytes and their number; with the number NMT_TERMINATED it ends at its first
 * NUL. A text that comes out ends with a NUL, belongs to the object that it was asked of, and lives as long as that.
 *
 * Errors. A function that can fail returns an nmt_status, and where that is not NMT_OK, nmt_error_message() says, in
 * one line, what is wrong, where, and what to do. What was to be made is NULL then. No exception leaves the library.
 *
 * Threads. An object may be used by one thread at a time, but for those that say otherwise. nmt_error_message() is of
 * the calling thread. A thread that is cancelled during a call ends after it. Callbacks return: they neither end their
 * thread (pthread_exit) nor leave by longjmp().
 *
 * Options are set by name, so that new ones need no new functions. Names and meanings: docs/library.md.
 */
#ifndef NMT_H_
#define NMT_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define NMT_C_EXPORT __attribute__((visibility("default")))
#else
#define NMT_C_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors and versions ------------------------------------------------------------------------------------------
 */

/** How a call ended. */
typedef enum nmt_status {
  NMT_OK = 0,
  NMT_MACHINE_ERROR = 1, /**< disk full, out of memory, a lost device */
  NMT_USER_ERROR = 2,    /**< what the caller or its user can mend: an option, a folder, a line of a file */
  NMT_STOPPED = 3,       /**< an nmt_stop ended the work */
  NMT_CALLBACK = 4       /**< a callback of the caller said that it failed */
} nmt_status;

/** Of the last function of this thread that failed; "" before the first. Lives until the next call that fails. */
NMT_C_EXPORT const char* nmt_error_message(void);
NMT_C_EXPORT const char* nmt_version(void); /**< "0.2.0" */

/** For the whole process and for good: see nmt/memory.h. */
NMT_C_EXPORT void nmt_reuse_freed_tensors(void);

/** As the number of a text's bytes: it ends at its first NUL. */
#define NMT_TERMINATED ((size_t)-1)

/* ---- Options -------------------------------------------------------------------------------------------------------
 */

/** Names with values. Where an object is made or a call begins, they are copied: change and free them as you like. */
typedef struct nmt_options nmt_options;

NMT_C_EXPORT nmt_options* nmt_options_new(void); /**< NULL: out of memory */
/** Those that work has begun with stay as they were. */
NMT_C_EXPORT void nmt_options_free(nmt_options* options);
/** A name that has a value already gets this one; a name that is a list ("model", "must", "set") gets it added. Numbers
 * and "true" and "false" are texts, too. Whether name and value are right is said where the options are used. */
NMT_C_EXPORT nmt_status nmt_options_set(nmt_options* options, const char* name, const char* value);
/** nmt_options_set() with a whole number. */
NMT_C_EXPORT nmt_status nmt_options_set_int(nmt_options* options, const char* name, int64_t value);
/** nmt_options_set() with a number. */
NMT_C_EXPORT nmt_status nmt_options_set_double(nmt_options* options, const char* name, double value);

/* ---- Stopping ------------------------------------------------------------------------------------------------------
 */

/** Ends work under way. Any thread may request it at any time, and so may a signal handler. It may be freed while work
 * has it. */
typedef struct nmt_stop nmt_stop;

NMT_C_EXPORT nmt_stop* nmt_stop_new(void); /**< NULL: out of memory */
/** Ends the work that has this stop, soon and for good. */
NMT_C_EXPORT void nmt_stop_request(nmt_stop* stop);
/** Work that has it goes on. */
NMT_C_EXPORT void nmt_stop_free(nmt_stop* stop);

/* ---- Records: figures and texts by name ----------------------------------------------------------------------------
 */

/** A score, an event of training, a result. */
typedef struct nmt_record nmt_record;

NMT_C_EXPORT const char* nmt_record_kind(const nmt_record* record); /**< "score", "update", "validation", ... */
/** 1: it has a number, a text or a list of this name. */
NMT_C_EXPORT int nmt_record_has(const nmt_record* record, const char* name);
/** NaN where it has no such number; flags are 0 and 1. */
NMT_C_EXPORT double nmt_record_number(const nmt_record* record, const char* name);
/** NULL where it has no such text. */
NMT_C_EXPORT const char* nmt_record_text(const nmt_record* record, const char* name);
/** A list of numbers ("precisions"); NULL and 0 where there is none. */
NMT_C_EXPORT const double* nmt_record_numbers(const nmt_record* record, const char* name, size_t* count);
/** Not for those that a callback gets. */
NMT_C_EXPORT void nmt_record_free(nmt_record* record);

/* ---- Logs ----------------------------------------------------------------------------------------------------------
 */

/** How much a line matters. */
typedef enum nmt_log_level { NMT_LOG_INFO = 0, NMT_LOG_WARNING = 1, NMT_LOG_ERROR = 2 } nmt_log_level;
/** A line without its end; one thread at a time, but not always the one that began the work. */
typedef void (*nmt_log_function)(void* user, nmt_log_level level, const char* line);

/* ---- Translator ----------------------------------------------------------------------------------------------------
 */

/** Any number of threads may use a translator at the same time; it may be freed while another thread still translates.
 */
typedef struct nmt_translator nmt_translator;
/** What became of the lines of a call. */
typedef struct nmt_translations nmt_translations;

/** Loads a model directory. options: NULL, or of "model" (further ones: an ensemble), "weights" ("1,2"), "device",
 * "precision", "threads", "max_source_length", "set" (NAME=VALUE of the section `decoding`). */
NMT_C_EXPORT nmt_status nmt_translator_new(const char* model, const nmt_options* options, nmt_translator** translator);
/** Calls under way go on to their end. */
NMT_C_EXPORT void nmt_translator_free(nmt_translator* translator);

/** lines[count], lengths[count] in bytes; lengths NULL: all end at their first NUL. options: NULL, or of "beam_size",
 * "n_best", "length_penalty", ..., "sampling" with "temperature", "top_k", "top_p", "seed"; "prefix", "must",
 * "must_not", "glossary", "keep_placeholders", "split_sentences", "copy_unknown", "token_scores", "alignment",
 * "attention"; "set". stop: may be NULL. */
NMT_C_EXPORT nmt_status nmt_translator_translate(const nmt_translator* translator, const char* const* lines,
                                                 const size_t* lengths, size_t count, const nmt_options* options,
                                                 nmt_stop* stop, nmt_translations** translations);

/** Scores given translations: one alternative a line. nmt_translations_shortened() tells where not all was scored. */
NMT_C_EXPORT nmt_status nmt_translator_score(const nmt_translator* translator, const char* const* sources,
                                             const size_t* source_lengths, const char* const* targets,
                                             const size_t* target_lengths, size_t count, const nmt_options* options,
                                             nmt_stop* stop, nmt_translations** translations);

/** Gives the next line: sets *line and *length, which stay until the next call. 1: here it is; 0: there are no more;
 * negative: it failed, which ends the work with NMT_CALLBACK. */
typedef int (*nmt_line_source)(void* user, const char** line, size_t* length);
/** Takes the translation of line `number`, from 0, in order: line 0 of `translations`, which is the library's own. 1:
 * go on; 0: no more are wanted; negative: it failed. */
typedef int (*nmt_translation_sink)(void* user, int64_t number, const nmt_translations* translations);

/** Reads, translates and hands over block by block ("block_lines" of options); both are called by this call alone. */
NMT_C_EXPORT nmt_status nmt_translator_stream(const nmt_translator* translator, nmt_line_source source,
                                              void* source_user, nmt_translation_sink sink, void* sink_user,
                                              const nmt_options* options, nmt_stop* stop, int64_t* lines);

/** Lines of a file, plain or gzip, to a file. statistics: NULL, or what is to be freed: "lines", "source_tokens",
 * "target_tokens", "seconds", ... */
NMT_C_EXPORT nmt_status nmt_translator_translate_file(const nmt_translator* translator, const char* input,
                                                      const char* output, const nmt_options* options, nmt_stop* stop,
                                                      nmt_record** statistics);

/** Results are asked for by line, and of n best by rank, from 0. Beyond their number: NULL, 0 or NaN. Any number of
 * threads may ask. */
NMT_C_EXPORT size_t nmt_translations_count(const nmt_translations* translations);
/** Of a line: n best, or fewer; none for an empty one. */
NMT_C_EXPORT size_t nmt_translations_alternatives(const nmt_translations* translations, size_t line);
/** The best translation of a line: "" for an empty one. length: NULL, or where its bytes are told. */
NMT_C_EXPORT const char* nmt_translations_best(const nmt_translations* translations, size_t line, size_t* length);
/** One of the n best. length: NULL, or where its bytes are told. */
NMT_C_EXPORT const char* nmt_translations_text(const nmt_translations* translations, size_t line, size_t rank,
                                               size_t* length);
/** What the search ranks by: log-probability with its penalties. */
NMT_C_EXPORT double nmt_translations_score_of(const nmt_translations* translations, size_t line, size_t rank);
/** Natural logarithm, the end symbol included. */
NMT_C_EXPORT double nmt_translations_log_probability(const nmt_translations* translations, size_t line, size_t rank);
/** 1: its end was reached; 0: cut at the length limit. */
NMT_C_EXPORT int nmt_translations_finished(const nmt_translations* translations, size_t line, size_t rank);
/** 1: it begins with the prefix, and every phrase that must appear stands in it. */
NMT_C_EXPORT int nmt_translations_meets_constraints(const nmt_translations* translations, size_t line, size_t rank);
/** 1: of nmt_translator_score(): a side was longer than the model takes and was cut. */
NMT_C_EXPORT int nmt_translations_shortened(const nmt_translations* translations, size_t line, size_t rank);
/** Pieces, the end symbol included. */
NMT_C_EXPORT int64_t nmt_translations_tokens(const nmt_translations* translations, size_t line, size_t rank);
/** With "token_scores": [count], the pieces and their log-probabilities. */
NMT_C_EXPORT const char* nmt_translations_piece(const nmt_translations* translations, size_t line, size_t rank,
                                                size_t piece);
/** With "token_scores": [count], log-probabilities of the pieces; NULL and 0 without. */
NMT_C_EXPORT const float* nmt_translations_token_scores(const nmt_translations* translations, size_t line, size_t rank,
                                                        size_t* count);
/** With "alignment": count pairs (source word, target word), [count, 2]. */
NMT_C_EXPORT const int32_t* nmt_translations_alignment(const nmt_translations* translations, size_t line, size_t rank,
                                                       size_t* count);
/** With "attention": the matrix of a part, [rows, columns] row-major; parts: one, unless the line was split. */
NMT_C_EXPORT size_t nmt_translations_attention_parts(const nmt_translations* translations, size_t line, size_t rank);
/** How much each row looks at each column; NULL without "attention". */
NMT_C_EXPORT const float* nmt_translations_attention(const nmt_translations* translations, size_t line, size_t rank,
                                                     size_t part, size_t* rows, size_t* columns);
NMT_C_EXPORT const char* nmt_translations_attention_row(const nmt_translations* translations, size_t line, size_t rank,
                                                        size_t part, size_t row); /**< a piece of the translation */
/** A piece of the source. */
NMT_C_EXPORT const char* nmt_translations_attention_column(const nmt_translations* translations, size_t line,
                                                           size_t rank, size_t part, size_t column);
NMT_C_EXPORT int nmt_translations_split(const nmt_translations* translations, size_t line);    /**< in parts */
NMT_C_EXPORT int nmt_translations_repaired(const nmt_translations* translations, size_t line); /**< was not UTF-8 */
/** Texts and arrays that were asked of it end with it. */
NMT_C_EXPORT void nmt_translations_free(nmt_translations* translations);

/* ---- Tokenizer -----------------------------------------------------------------------------------------------------
 */

/** Any number of threads may use a tokenizer at the same time. */
typedef struct nmt_tokenizer nmt_tokenizer;
/** Source and target have vocabularies of their own, or one together. */
typedef enum nmt_side { NMT_SOURCE = 0, NMT_TARGET = 1 } nmt_side;
/** Texts that a function made. */
typedef struct nmt_texts nmt_texts;
/** Ids of pieces that a function made. */
typedef struct nmt_ids nmt_ids;

/** How many texts. */
NMT_C_EXPORT size_t nmt_texts_count(const nmt_texts* texts);
NMT_C_EXPORT const char* nmt_texts_get(const nmt_texts* texts, size_t index, size_t* length); /**< NULL beyond */
/** Texts that were asked of it end with it. */
NMT_C_EXPORT void nmt_texts_free(nmt_texts* texts);
/** [count]; they end with the object. */
NMT_C_EXPORT const int32_t* nmt_ids_get(const nmt_ids* ids, size_t* count);
/** Its array ends with it. */
NMT_C_EXPORT void nmt_ids_free(nmt_ids* ids);

/** Of a model directory or a folder of prepared data. */
NMT_C_EXPORT nmt_status nmt_tokenizer_new(const char* directory, nmt_tokenizer** tokenizer);
/** What was made with it stays. */
NMT_C_EXPORT void nmt_tokenizer_free(nmt_tokenizer* tokenizer);
/** Pieces of a side's vocabulary. */
NMT_C_EXPORT int64_t nmt_tokenizer_size(const nmt_tokenizer* tokenizer, nmt_side side);
/** The ids of a text, without begin and end symbols. */
NMT_C_EXPORT nmt_status nmt_tokenizer_encode(const nmt_tokenizer* tokenizer, nmt_side side, const char* text,
                                             size_t length, nmt_ids** ids);
/** The same, as pieces. */
NMT_C_EXPORT nmt_status nmt_tokenizer_encode_pieces(const nmt_tokenizer* tokenizer, nmt_side side, const char* text,
                                                    size_t length, nmt_texts** pieces);
/** One text. */
NMT_C_EXPORT nmt_status nmt_tokenizer_decode(const nmt_tokenizer* tokenizer, nmt_side side, const int32_t* ids,
                                             size_t count, nmt_texts** text);
/** A tokenizer of metrics by its name, "13a": the text with spaces between its tokens. */
NMT_C_EXPORT nmt_status nmt_metric_tokenize(const char* name, const char* text, size_t length, nmt_texts** tokens);

/* ---- Scorer --------------------------------------------------------------------------------------------------------
 */

/** Any number of threads may use a scorer at the same time. */
typedef struct nmt_scorer nmt_scorer;

/** metric: "bleu", "chrf" or "ter". options: NULL, or the metric's, by sacreBLEU's names. */
NMT_C_EXPORT nmt_status nmt_scorer_new(const char* metric, const nmt_options* options, nmt_scorer** scorer);
/** Its scores stay. */
NMT_C_EXPORT void nmt_scorer_free(nmt_scorer* scorer);
/** hypotheses[lines]; references[sets][lines], as one array: set after set. Each text ends at its first NUL. options:
 * NULL, or of "threads", "bootstrap", "seed". score: a record with the number "score", the texts "name", "signature",
 * "text", "json", and more. */
NMT_C_EXPORT nmt_status nmt_scorer_corpus(const nmt_scorer* scorer, const char* const* hypotheses, size_t lines,
                                          const char* const* references, size_t sets, const nmt_options* options,
                                          nmt_record** score);
/** One hypothesis by references[sets]; the record is as that of nmt_scorer_corpus(). */
NMT_C_EXPORT nmt_status nmt_scorer_sentence(const nmt_scorer* scorer, const char* hypothesis,
                                            const char* const* references, size_t sets, nmt_record** score);

/* ---- Preparing and training ----------------------------------------------------------------------------------------
 */

/** nmt-prepro's work. configuration: a YAML file, or NULL. options: NULL, or of "set" (SECTION.KEY=VALUE, a list),
 * "overwrite". log and stop may be NULL. result: NULL, or where a record is told: the texts "directory", "table", the
 * flag "up_to_date". */
NMT_C_EXPORT nmt_status nmt_prepare(const char* configuration, const nmt_options* options, nmt_log_function log,
                                    void* user, nmt_stop* stop, nmt_record** result);

/** Told what happens: records of the kinds "start", "update", "interval", "epoch", "validation", "checkpoint", which
 * are the library's own. 1: go on; negative: it failed, which ends the run with NMT_CALLBACK. */
typedef int (*nmt_training_function)(void* user, const nmt_record* event);

/** nmt-train's work. options: NULL, or of "set", "restart". event, log and stop may be NULL. result: NULL, or where a
 * record is told: the texts "run_directory", "best_model", "reason", the flag "stopped", "updates", and the best
 * validation's "loss", "bleu", ... A run that the stop ended is NMT_OK with "stopped": the next call goes on. */
NMT_C_EXPORT nmt_status nmt_train(const char* configuration, const nmt_options* options, nmt_training_function event,
                                  nmt_log_function log, void* user, nmt_stop* stop, nmt_record** result);

/* ---- Server --------------------------------------------------------------------------------------------------------
 */

/** `nmt-translate --serve` inside this program, in threads of its own. */
typedef struct nmt_server nmt_server;

/** model: NULL where the options have "config_file". options: NULL, or those of nmt_translator_new() and "address",
 * "config_file", "api_key", "api_keys_file", "split_sentences", ... */
NMT_C_EXPORT nmt_status nmt_server_new(const char* model, const nmt_options* options, nmt_log_function log, void* user,
                                       nmt_server** server);
/** Where it listens: "http://127.0.0.1:8080". */
NMT_C_EXPORT const char* nmt_server_url(const nmt_server* server);
NMT_C_EXPORT void nmt_server_free(nmt_server* server); /**< answers what has come in, and stops */

#ifdef __cplusplus
}
#endif
#endif
