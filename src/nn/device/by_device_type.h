#pragma once

#include <c10/core/DeviceType.h>

#include <map>
#include <mutex>
#include <utility>

namespace nmt {

/// What devices of each type have of something, such as the way to record their work; null: nothing. Any number of
/// threads may call it.
template <typename Value>
class ByDeviceType {
 public:
  explicit ByDeviceType(std::map<c10::DeviceType, Value> values) : values_(std::move(values)) {}
  Value of(c10::DeviceType type) {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(type);
    return found == values_.end() ? nullptr : found->second;
  }
  void set(c10::DeviceType type, Value value) {
    const std::lock_guard lock(mutex_);
    values_[type] = std::move(value);
  }

 private:
  std::mutex mutex_;
  std::map<c10::DeviceType, Value> values_;
};

}  // namespace nmt
