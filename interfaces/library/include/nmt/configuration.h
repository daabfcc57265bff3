#pragma once

#include <string>
#include <vector>

#include "nmt/error.h"
#include "nmt/export.h"

NMT_API_BEGIN

/// A configuration: what nmt-prepro and nmt-train get as `-c FILE --set SECTION.KEY=VALUE ...`. docs/options.md has all
/// options.
struct Configuration {
  std::string file = {};                   ///< YAML; empty: the defaults
  std::vector<std::string> settings = {};  ///< "training.max_updates=500", over the file
};

/// All options with the values that they have then, as YAML with their help. Throws UserError ("FILE:LINE: ...; did you
/// mean ...?") for a file or setting that is not as it should be.
NMT_EXPORT std::string effective_configuration(const Configuration& configuration);

NMT_API_END
