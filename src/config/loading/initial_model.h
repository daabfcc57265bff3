#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/loading/schema.h"
#include "config/option_listing.h"
#include "config/rules/rule_checker.h"

namespace nmt {

/// Options of the model that decide what it computes, where they differ; none of those that say how it starts or
/// trains, such as dropout.
std::vector<ConfigDifference> model_differences(const ModelConfig& theirs, const ModelConfig& ours);

/// training.init_from: the model directory decides the model, the way from text to pieces, and how it searches, where
/// `origins` has no setting of an option; nothing is done where it is empty. Vocabularies and weights stay in the
/// directory; with training.init_vocabulary: map the vocabulary is as configured. Where it is gone and run.dir has a
/// run that was begun from it, that run's config.yaml stands in for it. Throws Error for a directory that is none, and,
/// with all of them in one line, for settings that ask for another model or another vocabulary.
void follow_initial_model(Config& config, const Origins& origins);

/// load_config() for a user's own run, with follow_initial_model(). Other configurations may come from a stranger, who
/// is not to name folders of this machine.
LoadedConfig load_run_config(const std::filesystem::path& path, const std::vector<std::string>& settings = {},
                             const std::vector<PlainSetting>& plain = {});

}  // namespace nmt
