#include "nn/scores/attention_score.h"

#include <fmt/format.h>

#include "base/error.h"

namespace nmt {

void require_equal_sizes(const std::string& name, const AttentionScoreOptions& options) {
  if (options.query != options.key)
    throw Error(fmt::format(
        "attention score {}: queries have {} features, keys {}; use equal sizes, or score general or additive", name,
        options.query, options.key));
}

}  // namespace nmt
