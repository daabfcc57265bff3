#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/search_options.h"
#include "search/step.h"
#include "text/sentence_queue.h"

namespace nmt {

/// Sentences, and the n_best hypotheses of each, best first (fewer where the search found fewer). Before each step it
/// is asked whether to stop, and each sentence whether it is cancelled.
using SearchQueue = SentenceQueue<SearchInput, std::vector<Hypothesis>>;

/// Translates the sentences of a queue, at most batch_size at a time: where some are finished others take their places,
/// so that the steps stay wide (continuous batching, Yu et al. 2022). Sentences wait until all of a batch are finished
/// where a model cannot do that (DecodingModel::joins), and with candidates, SearchOptions::attention
/// or a coverage penalty. Those with SearchInput::attention may be finished some steps late: in groups.
///
/// Beam search: in each step every live hypothesis is extended by every token but <pad> and <s>, and the extensions are
/// ranked by log-probability (ties: the extension of the better hypothesis, then the lower id). Those among the best
/// beam_size that end with </s> are finished; the best beam_size that do not end live on. A sentence is done, and its
/// rows leave the batch, when
///   - no live hypothesis can displace the n_best-th best finished one any more: log-probabilities only fall, so what a
///     live hypothesis becomes scores at most its log-probability / penalty(length limit). This changes no result. Or
///   - kHeuristic, with a length penalty: beam_size hypotheses are finished and the best of them scores no less than
///   the
///     best live one does at its present length. This may miss a longer hypothesis whose last words are more probable
///     than its first, and saves most of the way to the length limit. The best hypothesis is the same for every n_best.
///     Or
///   - kFirst: beam_size hypotheses are finished. Or
///   - the length limit is reached. Hypotheses that are live then count only where fewer than n_best are finished.
/// With beam_size 1 this is greedy search: it is done as soon as its hypothesis ends.
///
/// Log-probabilities are the model's own, over the whole vocabulary: banning a token takes it out of the choice and
/// gives its share to nobody. (The repetition penalty changes the model's distribution: RepetitionPenalty.)
///
/// The beginning of a translation may be forced: its tokens are taken as they are, count in every score, and no ban
/// holds for them. A prefix that ends with </s> is a whole translation, which is scored: by the steps of the search.
/// Sentences that start together are fed at once what all of them are forced to begin with, where that leaves the bits
/// of single steps (DecodingModel::exact_blocks).
///
/// Phrases that must appear: dynamic beam allocation (Post and Vilar 2018), whose banks are filled in turns as in Hu et
/// al. 2019. Extensions that advance a phrase are candidates whatever their probability; each belongs to the bank of as
/// many tokens as it has of the phrases, and the beam takes the best of each bank, then the second best, and so on,
/// from the bank with most tokens down. </s> is banned until all phrases have appeared. Unlike one search for each
/// number of met tokens (grid beam search, Hokamp and Liu 2017) this costs no more than the beam.
///
/// Diverse beam search (Vijayakumar et al. 2018): diversity_groups beams of beam_size / diversity_groups hypotheses, of
/// which each ranks its extensions by log-probability less diversity_strength for every time that a group before it has
/// chosen the token in the same step. Scores stay log-probabilities; results of all groups are ranked together, each
/// translation once.
///
/// Sampling: n_best hypotheses drawn token by token, in the order of drawing; sample i of a sentence depends on (seed,
/// number, part, i) alone.
///
/// Candidates (a shortlist): other tokens do not exist; log-probabilities are normalised over the candidates.
///
/// What is found for a sentence depends on its own rows of logits alone.
void search(DecodingModel& model, SearchQueue& queue, int64_t batch_size, const SearchOptions& options);

}  // namespace nmt
