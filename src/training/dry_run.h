#pragma once

#include <cstdint>
#include <string>

#include "config/config.h"
#include "data/prepared_data.h"

namespace nmt {

/// Where a run is to take place.
struct DryRunPlace {
  bool host = true;            ///< the CPU; else a card
  std::string precision = {};  ///< "fp32", "bf16" or "fp16"
  int64_t memory = 0;          ///< bytes for one process
  int64_t processes = 1;
};

struct DryRunAnswer {
  std::string table;  ///< lines
  bool fits = true;
  std::string advice;  ///< where it does not: one line that says what to change
};

/// Whether training with this configuration would have memory enough, and the largest training.batch_size for which it
/// would. Nothing is allocated for it, whatever the size of the model.
DryRunAnswer dry_run(const Config& config, const PreparedData& data, const DryRunPlace& place);

}  // namespace nmt
