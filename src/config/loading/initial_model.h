#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/option_listing.h"
#include "config/rules/rule_checker.h"

namespace nmt {

/// Options of the model that decide what it computes, where they differ; none of those that say how it starts or
/// trains, such as dropout.
std::vector<ConfigDifference> model_differences(const ModelConfig& theirs, const ModelConfig& ours);

/// training.init_from: the model directory decides the model, the way from text to pieces, and how it searches, where
/// `origins` has no setting of an option; nothing is done where it is empty. Vocabularies and weights stay in the
/// directory. Throws Error for a directory that is none, and, with all of them in one line, for settings that ask for
/// another model or another vocabulary.
void follow_initial_model(Config& config, const Origins& origins);

}  // namespace nmt
