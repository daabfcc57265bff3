#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/search/torch_step.h"
#include "search/search_options.h"

namespace nmt {

/// Fills Hypothesis::attention of a search's results: the weights by which a decoder layer looked at each piece of the
/// source (markers left out, so they may sum to less than 1) when it wrote each token, one of its heads or the mean of
/// all. By teacher forcing after the search, which pays nothing for it. options.alignment_layer counts from 1; 0 is the
/// last but one, which tends to align best (Garg et al. 2019, sec. 3.1), or the only one. With a coverage penalty the
/// hypotheses of each sentence are then ranked again and cut to its n_best, or to that of the options where it has
/// none. With AlignmentToken::kInput each token has at last the weights of the step that read it, one later; </s> and a
/// token that was cut off keep their own. Throws Error where the model has no such layer or head.
void add_attention(const SearchModel& model, std::span<const SearchInput* const> inputs, const SearchOptions& options,
                   std::vector<std::vector<Hypothesis>>& results);

/// Whether the model has attention to the source. Throws Error where it has, but not the layer or head of the options.
/// Costs a step over one piece. The caller holds a NoGradGuard and has put the model into evaluation mode.
bool has_alignment(const SearchModel& model, const SearchOptions& options);

/// Wu et al. 2016, eq. 14, without its factor beta: the sum over the source pieces of log(min(a, 1)), a the attention
/// that a piece got from all tokens (at least 1e-9). 0 where each was looked at once; never more.
double coverage(const Hypothesis& hypothesis, int64_t source_pieces);

}  // namespace nmt
