#pragma once

#include <string>
#include <vector>

#include "evaluation/evaluation_files.h"

namespace nmt {

/// What nmt-eval prints: the scores of one system a line each, as sacreBLEU prints them, and its loss; of several
/// systems the table of the comparison and the loss of each. Of several test sets a row each; with several systems the
/// name of each set above its table. width: digits after the point. Ends with a line end.
std::string evaluation_text(const std::vector<TestSetResults>& results, int width);

}  // namespace nmt
