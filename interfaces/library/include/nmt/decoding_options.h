// Made of the table of options by tests/interfaces/library/decoding_options_test.cpp: NMT_UPDATE_DOCS=1.
// clang-format off
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nmt/export.h"

NMT_API_BEGIN

/// The section `decoding` of docs/options.md. What is not set is as the model says.
struct DecodingOptions {
  /// hypotheses a sentence; 1 = greedy (at least 1 and at most 1000)
  std::optional<std::int64_t> beam_size = {};
  /// exponent a of the length penalty; 0 = none (at least 0 and at most 10)
  std::optional<double> length_penalty = {};
  /// for a hypothesis of n tokens: ((5 + n) / 6)^a, or n^a (paper, simple)
  std::optional<std::string> length_penalty_form = {};
  /// a translation has at most max_length_ratio x source + max_length_offset tokens, end symbols counted (at least 0 and at most 1000)
  std::optional<double> max_length_ratio = {};
  /// see max_length_ratio (at least 0 and at most 100000)
  std::optional<std::int64_t> max_length_offset = {};
  /// minimum number of tokens before the end symbol (at least 0 and at most 100000)
  std::optional<std::int64_t> min_length = {};
  /// maximum number of tokens for any source, the end symbol counted; 0 = only max_length_ratio and max_length_offset (at least 0 and at most 100000)
  std::optional<std::int64_t> max_length = {};
  /// a sentence is done when nothing live can win (optimal), also when enough is finished and what lives has fallen behind (heuristic), also when beam_size hypotheses are finished (first) (heuristic, optimal, first)
  std::optional<std::string> stopping = {};
  /// beta of the coverage penalty (Wu et al. 2016), by which finished hypotheses are ranked again; 0 = none (at least 0 and at most 100)
  std::optional<double> coverage_penalty = {};
  /// no n-gram of this many tokens appears twice; 0 = off (at least 0 and at most 1000)
  std::optional<std::int64_t> no_repeat_ngram_size = {};
  /// logits of tokens that were written already are divided by this, negative ones multiplied (Keskar et al. 2019); 1 = off (at least 0.01 and at most 100)
  std::optional<double> repetition_penalty = {};
  /// never write \\<unk\\>
  std::optional<bool> ban_unknown = {};
  /// target phrases that no translation holds
  std::optional<std::vector<std::string>> banned_phrases = {};
  /// regular expressions (of ICU) of what stays as it stands, beside what --keep-placeholders finds
  std::optional<std::vector<std::string>> placeholders = {};
  /// groups of diverse beam search (Vijayakumar et al. 2018); divides beam_size; 1 = off (at least 1 and at most 1000)
  std::optional<std::int64_t> diversity_groups = {};
  /// what a token costs for each time that an earlier group has chosen it in the same step (at least 0 and at most 100)
  std::optional<double> diversity_strength = {};
  /// draw tokens by their probability instead of searching; with beam_size 1
  std::optional<bool> sampling = {};
  /// sampling: logits are divided by it (at least 0.01 and at most 100)
  std::optional<double> temperature = {};
  /// sampling: only among this many most probable tokens; 0 = all (at least 0)
  std::optional<std::int64_t> top_k = {};
  /// sampling: only among the fewest most probable tokens whose probabilities sum to this; 1 = all (above 0 and at most 1)
  std::optional<double> top_p = {};
  /// of sampling (at least 0)
  std::optional<std::int64_t> seed = {};
  /// take the candidate that is most like all others by this score (minimum Bayes risk): of a beam by their probabilities, of samples by how often they are drawn (none, chrf, bleu)
  std::optional<std::string> mbr = {};
  /// mbr with sampling: draw this many candidates (at least 2 and at most 10000)
  std::optional<std::int64_t> mbr_samples = {};
  /// a translation that repeats itself or is cut far behind its source is searched once more, without n-grams that come twice
  std::optional<bool> retry_loops = {};
  /// several models vote by the mean of their probabilities or of their log-probabilities (linear, log_linear)
  std::optional<std::string> combination = {};
  /// decoder layer whose attention to the source is shown and counted, from 1; 0 = the last but one (at least 0 and at most 1000)
  std::optional<std::int64_t> alignment_layer = {};
  /// head of that layer which aligns words, from 1; 0 = the mean of all heads (at least 0 and at most 1000)
  std::optional<std::int64_t> alignment_head = {};
  /// a target token is aligned by the attention of the step that writes it (output) or of the step that reads it (input, Chen et al. 2020) (output, input)
  std::optional<std::string> alignment_token = {};
  /// sentences that are translated together (at least 1 and at most 100000)
  std::optional<std::int64_t> batch_size = {};
  /// of weights in products; auto: bf16 where the processor or GPU computes in it, else fp16 on a GPU that computes in that, else fp32; fp16 for GPUs, int8 for CPUs (auto, fp32, bf16, fp16, int8)
  std::optional<std::string> precision = {};
  /// which of the model's target languages is wanted, where tags of its vocabulary (\\>\\>en\\<\\<) say so; unset: a tag at the beginning of each line
  std::optional<std::string> target_language = {};
  /// write only with candidates: this many for each source piece, by the model's lexicon (data.shortlist), and the most frequent pieces; 0 = with all pieces (at least 0 and at most 10000)
  std::optional<std::int64_t> shortlist = {};
  /// shortlist: this many target pieces, the most frequent ones, are candidates of every sentence (at least 1 and at most 1000000)
  std::optional<std::int64_t> shortlist_frequent = {};
  /// language of the source, of a model that is told both (M2M-100, NLLB); unset: the model's own
  std::optional<std::string> source_language = {};
};

/// Calls call(name, member) for each option.
template <typename Options, typename Call>
void for_each_option(Options& options, const Call& call) {
  call("beam_size", options.beam_size);
  call("length_penalty", options.length_penalty);
  call("length_penalty_form", options.length_penalty_form);
  call("max_length_ratio", options.max_length_ratio);
  call("max_length_offset", options.max_length_offset);
  call("min_length", options.min_length);
  call("max_length", options.max_length);
  call("stopping", options.stopping);
  call("coverage_penalty", options.coverage_penalty);
  call("no_repeat_ngram_size", options.no_repeat_ngram_size);
  call("repetition_penalty", options.repetition_penalty);
  call("ban_unknown", options.ban_unknown);
  call("banned_phrases", options.banned_phrases);
  call("placeholders", options.placeholders);
  call("diversity_groups", options.diversity_groups);
  call("diversity_strength", options.diversity_strength);
  call("sampling", options.sampling);
  call("temperature", options.temperature);
  call("top_k", options.top_k);
  call("top_p", options.top_p);
  call("seed", options.seed);
  call("mbr", options.mbr);
  call("mbr_samples", options.mbr_samples);
  call("retry_loops", options.retry_loops);
  call("combination", options.combination);
  call("alignment_layer", options.alignment_layer);
  call("alignment_head", options.alignment_head);
  call("alignment_token", options.alignment_token);
  call("batch_size", options.batch_size);
  call("precision", options.precision);
  call("target_language", options.target_language);
  call("shortlist", options.shortlist);
  call("shortlist_frequent", options.shortlist_frequent);
  call("source_language", options.source_language);
}

NMT_API_END
