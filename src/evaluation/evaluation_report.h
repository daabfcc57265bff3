#pragma once

#include <vector>

#include "base/strict_json.h"
#include "evaluation/evaluation.h"

namespace nmt {

/// One system in the JSON report: its scores unrounded and as sacreBLEU prints them, speed, counts.
nlohmann::ordered_json report_of(const SystemOutput& system, const std::vector<scoring::Score>& scores);
nlohmann::ordered_json report_of(const TestSet& test_set);
/// The section `decoding`: what differs from the defaults, and what always matters.
nlohmann::ordered_json report_of(const DecodingConfig& decoding);
nlohmann::ordered_json report_of(const scoring::PairedTable& table);

}  // namespace nmt
