#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/process/log.h"
#include "report/records/training_observer.h"

namespace nmt {

/// What all calls of one name cost together.
struct OperationCost {
  std::string name;
  int64_t calls = 0;
  int64_t own = 0;  ///< nanoseconds, without the calls inside
};

/// A call as a trace has it: calls of one thread lie inside each other or apart.
struct TracedCall {
  std::string name;
  uint64_t thread = 0;
  int64_t begin = 0, end = 0;  ///< nanoseconds
};

/// Costs by name, the most expensive first.
std::vector<OperationCost> operation_costs(std::vector<TracedCall> calls);

/// Records the calls of some updates: writes a trace for chrome://tracing or Perfetto and logs the time of
/// the ten most expensive operations. The first ten updates, in which buffers are made,
/// are let pass.
class UpdateProfiler final : public TrainingObserver {
 public:
  /// Borrows the log. Throws Error if updates is below 1.
  UpdateProfiler(int64_t updates, std::filesystem::path trace, Logger& log);
  ~UpdateProfiler() override;
  void on_update(const UpdateReport& report) override;
  void on_end(const std::string& reason) override;

 private:
  void start();
  void finish();

  int64_t wanted_, seen_ = 0;
  std::filesystem::path trace_;
  Logger& log_;
  bool recording_ = false;
};

}  // namespace nmt
