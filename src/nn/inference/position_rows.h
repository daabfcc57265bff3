#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "config/kinds.h"

namespace nmt {

/// For tables that have an end: throws Error where a sentence of `needed` tokens goes beyond `limit` positions.
void check_length(int64_t needed, int64_t limit, const char* kind);

namespace inference {

/// The vectors of positions 0, 1, ...: [count, features].
struct PositionTable {
  const float* rows = nullptr;
  int64_t count = 0;
  std::shared_ptr<const void> owner = nullptr;
};

/// A table of positions, trained or computed. Thread-safe.
class PositionRows {
 public:
  virtual ~PositionRows() = default;
  /// At least `count` rows. Throws Error where there are not so many.
  virtual PositionTable table(int64_t count) = 0;
};

/// Sinusoids (config/sinusoid_values.h), kept; the table grows with what is asked for.
class SinusoidTable final : public PositionRows {
 public:
  SinusoidTable(int64_t features, Sinusoid form) : features_(features), form_(form) {}
  PositionTable table(int64_t count) override;

 private:
  int64_t features_;
  Sinusoid form_;
  std::mutex mutex_;
  std::shared_ptr<const std::vector<float>> values_;
};

/// A trained table, borrowed.
class TrainedTable final : public PositionRows {
 public:
  TrainedTable(const PositionTable& all, const char* kind) : all_(all), kind_(kind) {}
  PositionTable table(int64_t count) override {
    check_length(count, all_.count, kind_);
    return all_;
  }

 private:
  PositionTable all_;
  const char* kind_;
};

}  // namespace inference
}  // namespace nmt
