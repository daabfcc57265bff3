#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/kinds.h"
#include "search/search_options.h"
#include "translation/lines/request.h"

namespace nmt {

/// Expected utilities (Kumar and Byrne 2004, Eikema and Aziz 2020), one for each text: the mean over all texts, by
/// their weights, of its sentence score with that text as the reference, 0 to 100. utility: not kNone.
std::vector<double> expected_utilities(std::span<const std::string> texts, std::span<const double> weights,
                                       RiskUtility utility);

/// Sets Alternative::expected_utility and puts the best first, each text once: what ended before what was cut, then
/// what meets its constraints, then by expected utility. Samples weigh as often as they were drawn, hypotheses of a
/// beam by their probability.
void rank_by_risk(std::vector<Alternative>& alternatives, const SearchOptions& options);

}  // namespace nmt
