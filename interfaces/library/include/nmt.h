/** @file
 * nmt: a neural machine translation toolkit. The C interface, for programs in C and in other languages.
 *
 * What is asked for and what is answered is JSON, in UTF-8, ended by a NUL: names and meanings stand at each function
 * and in docs/library.md. An unknown name is an error. A text that a function returns is freed with nmt_free().
 *
 * Errors. A function that can fail returns an nmt_status, and where that is not NMT_OK, nmt_error() says, in one line,
 * what is wrong, where, and what to do. What was to be made is NULL then. No exception leaves the library.
 *
 * Threads. Any number of threads may use a translator or a server at the same time. nmt_error() is of the calling
 * thread. Work that is shared out to threads cannot be done in a process that fork() has made of one that has the
 * library at work already.
 */
#ifndef NMT_H_
#define NMT_H_

#include <stddef.h>

#if defined(__GNUC__)
#define NMT_C_EXPORT __attribute__((visibility("default")))
#else
#define NMT_C_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** How a call ended. */
typedef enum nmt_status {
  NMT_OK = 0,
  NMT_MACHINE_ERROR = 1, /**< disk full, out of memory, a lost device */
  NMT_USER_ERROR = 2,    /**< what the caller or its user can fix: an option, a folder, a line of a file */
  NMT_STOPPED = 3        /**< a callback ended the work */
} nmt_status;

NMT_C_EXPORT const char* nmt_version(void); /**< "0.3.0" */
/** The error of the last function of this thread that failed; "" before the first. Lives until the next call that
 * fails. */
NMT_C_EXPORT const char* nmt_error(void);
/** Frees a text that a function returned; NULL is nothing. */
NMT_C_EXPORT void nmt_free(char* text);
/** A text of `length` bytes as JSON, in its quotes; what is not UTF-8 becomes U+FFFD. NULL: out of memory. */
NMT_C_EXPORT char* nmt_quoted(const char* text, size_t length);

/** Told what happens, now and then, by one thread at a time: {"event": "log", "level": "info" | "warning" | "error",
 * "text"}, {"event": "progress", "done": texts}, or what a function names. Returns 0; another number ends the work,
 * and the call returns NMT_STOPPED. */
typedef int (*nmt_callback)(void* user, const char* event);

/** Models that translate. */
typedef struct nmt_translator nmt_translator;

/** Loads model directories: {"models": [DIR, ...], "weights": [1, 2], "device": "auto", "threads": 0,
 * "max_source_length": 1024, "adapter": FILE} and any option of the section `decoding` of docs/options.md,
 * "precision" among them. All but "models" may be left out. */
NMT_C_EXPORT nmt_status nmt_translator_create(const char* options, nmt_translator** translator);
/** Calls under way end first. */
NMT_C_EXPORT void nmt_translator_free(nmt_translator* translator);

/** The best translation of one text, as text: no JSON. */
NMT_C_EXPORT nmt_status nmt_translator_translate_text(const nmt_translator* translator, const char* text,
                                                      char** translation);

/** {"texts": [TEXT, ...]}, where a text may be {"source", "prefix", "must": [], "must_not": []}; "n_best", "prefix",
 * "must", "must_not", "glossary" (a file), "keep_placeholders", "split_sentences", "copy_unknown", "token_scores",
 * "alignment", "attention", "first_line", and options of the section `decoding`.
 *
 * Answer: {"translations": [{"text", "alternatives": [{"text", "score", "log_probability", "tokens", "finished",
 * "meets_constraints", and where asked for "expected_utility", "pieces", "token_scores", "alignment":
 * [[source, target], ...], "attention": [{"rows", "columns", "weights"}]}], "source_tokens", "target_tokens", "split",
 * "repaired"}]}. callback may be NULL. */
NMT_C_EXPORT nmt_status nmt_translator_translate(const nmt_translator* translator, const char* request,
                                                 nmt_callback callback, void* user, char** answer);

/** Scores given translations as the search would: {"sources": [], "targets": []} and the options of
 * nmt_translator_translate() that concern scores. Answer: {"alternatives": [...]}. callback may be NULL. */
NMT_C_EXPORT nmt_status nmt_translator_score(const nmt_translator* translator, const char* request,
                                             nmt_callback callback, void* user, char** answer);

/** Scores translations as sacreBLEU does: {"metric": "bleu" | "chrf" | "ter", "hypotheses": [TEXT, ...], "references":
 * [[TEXT, ...], ...] (a list for each set)}, the options of the metric by sacreBLEU's names, "threads", "bootstrap",
 * "seed"; with "sentence": true one hypothesis alone. Answer: {"name", "score", "signature", "text", ...}. */
NMT_C_EXPORT nmt_status nmt_score(const char* request, char** answer);

/** The work of nmt-prepro: {"configuration": FILE, "settings": ["data.vocab_size=8000"], "overwrite": false}. Answer:
 * {"directory", "table", "up_to_date"}. callback may be NULL. */
NMT_C_EXPORT nmt_status nmt_prepare(const char* request, nmt_callback callback, void* user, char** answer);

/** The work of nmt-train: {"configuration": FILE, "settings": [], "restart": false}. Events: "start", "update",
 * "interval", "epoch", "validation", "checkpoint", with the figures of docs/library.md. Answer: {"run_directory",
 * "best_model", "reason", "stopped", "updates", "best": {...}}. A run that the callback ends has its state saved, is
 * NMT_OK with "stopped": true, and the next call resumes it. callback may be NULL. */
NMT_C_EXPORT nmt_status nmt_train(const char* request, nmt_callback callback, void* user, char** answer);

/** `nmt-translate --serve` inside this program, in threads of its own. */
typedef struct nmt_server nmt_server;

/** What nmt_translator_create() takes, and "address", "config_file" (instead of models), "api_key", "api_keys_file",
 * "split_sentences", "tls_certificate", "tls_key", "allowed_origin", "allowed_hosts", "requests_per_minute",
 * "characters_per_minute", "time_limit", "queue_lines", "max_characters", "access_log". The callback hears logs as long
 * as the server lives, from any thread; it may be NULL. */
NMT_C_EXPORT nmt_status nmt_server_create(const char* options, nmt_callback callback, void* user, nmt_server** server);
/** Where it listens: "http://127.0.0.1:8080". */
NMT_C_EXPORT const char* nmt_server_url(const nmt_server* server);
NMT_C_EXPORT void nmt_server_free(nmt_server* server); /**< answers what has come in, and stops */

#ifdef __cplusplus
}
#endif
#endif
