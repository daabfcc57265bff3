#pragma once

#include "base/files/strict_json.h"
#include "nmt/prepare.h"
#include "nmt/scorer.h"
#include "nmt/server.h"
#include "nmt/trainer.h"
#include "nmt/translator.h"

namespace nmt::api {

#define NMT_FIELD(name) call(#name, &Fields::name);
/// for_each_field(value, call) of a public struct: call("name", &Struct::name) for each member that JSON has by this
/// name. What is read and what is answered is made of these lists.
#define NMT_FIELDS(Struct, ...)                                       \
  template <typename Call>                                            \
  void for_each_field(const Struct&, const Call& call) {              \
    using Fields = Struct;                                            \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NMT_FIELD, __VA_ARGS__)) \
  }

NMT_FIELDS(TranslatorOptions, models, weights, device, threads, max_source_length, adapter)
NMT_FIELDS(TranslateOptions, n_best, prefix, must, must_not, keep_placeholders, split_sentences, copy_unknown,
           token_scores, alignment, attention, first_line)
NMT_FIELDS(Request, source, prefix, must, must_not)
NMT_FIELDS(BleuOptions, tokenizer, sentencepiece_model, lowercase, smooth_method, smooth_value, max_ngram_order,
           effective_order)
NMT_FIELDS(ChrfOptions, char_order, word_order, beta, lowercase, whitespace, eps_smoothing)
NMT_FIELDS(TerOptions, normalized, asian_support, case_sensitive)
NMT_FIELDS(CorpusOptions, threads, bootstrap, seed)
NMT_FIELDS(ServerOptions, address, config_file, split_sentences, api_key, api_keys_file, tls_certificate, tls_key,
           allowed_origin, allowed_hosts, requests_per_minute, characters_per_minute, time_limit, queue_lines,
           max_characters, access_log)

NMT_FIELDS(Alternative, text, score, log_probability, tokens, finished, meets_constraints)
NMT_FIELDS(AttentionMatrix, rows, columns, weights)
NMT_FIELDS(Translation, text, source_tokens, target_tokens, split, repaired)
NMT_FIELDS(Score, name, score, signature, short_signature, text, json)
NMT_FIELDS(Confidence, mean, half_width)
NMT_FIELDS(PrepareResult, directory, table, up_to_date)
NMT_FIELDS(TrainingResult, run_directory, best_model, reason, stopped, updates)
NMT_FIELDS(TrainingStart, run_directory, parameters, update, max_updates, updates_per_epoch, max_epochs, device,
           precision, threads)
NMT_FIELDS(UpdateFigures, epoch, update, loss, perplexity, accuracy, learning_rate, gradient_norm, source_tokens,
           target_tokens, skipped)
NMT_FIELDS(IntervalFigures, epoch, update, loss, perplexity, accuracy, learning_rate, gradient_norm,
           source_tokens_per_second, target_tokens_per_second, target_tokens, skipped_updates, seconds_left)
NMT_FIELDS(EpochFigures, epoch, update, loss, perplexity)
NMT_FIELDS(ValidationFigures, epoch, update, set, loss, perplexity, accuracy, is_best, seconds, weights)

#undef NMT_FIELDS
#undef NMT_FIELD

}  // namespace nmt::api
