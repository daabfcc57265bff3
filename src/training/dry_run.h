#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>

#include "config/config.h"
#include "data/prepared_data.h"

namespace nmt {

/// Where a run is to take place, and where an update of it is measured.
struct DryRunPlace {
  torch::Device device = torch::kCPU;  ///< of this machine: measures
  int64_t memory_here = 0;             ///< bytes of it for this process
  bool elsewhere = false;              ///< the run is meant for another card or machine (--memory)
  bool host = true;                    ///< the run is meant for a CPU
  int64_t memory = 0;                  ///< bytes for one process of the run; here: memory_here
  std::string precision = "fp32";      ///< of the run: "fp32", "bf16" or "fp16"
  int64_t processes = 1;
};

struct DryRunAnswer {
  int64_t needed = 0;  ///< bytes of one process, in all
  std::string table;   ///< lines: what weights, gradients, moments and the largest batch take
  bool fits = true;
  std::string advice;  ///< where it does not fit: one line that says what to change
};

/// Whether training with this configuration has memory enough: makes the model and runs one update of the largest batch
/// of the first epoch, of half of it where that does not fit, and again, and reads the peak of tensor bytes. Elsewhere:
/// the update has at most some thousand tokens, and what it takes beside weights and moments grows with the batch.
/// Writes no file. Sets LibTorch's number of threads. Throws Error for what cannot be trained, MachineError where a run
/// meant for elsewhere cannot be measured here.
DryRunAnswer dry_run(const Config& config, const PreparedData& data, const DryRunPlace& place);

}  // namespace nmt
