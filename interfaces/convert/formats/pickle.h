#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace nmt::convert {

/// A value of a pickle. Owned by its Pickle; values may share and even contain each other, so walk them by expectation.
struct PickleValue {
  enum class Kind { kNone, kBool, kInt, kFloat, kText, kList, kDict, kGlobal, kCall, kPersistent };
  Kind kind = Kind::kNone;
  int64_t number = 0;                     ///< bool, int
  double real = 0;                        ///< float
  std::string text;                       ///< text or bytes; global, call: "module.name"
  std::vector<const PickleValue*> items;  ///< list or tuple; call: arguments; dict: keys and values in turn;
                                          ///< persistent: the id
};

/// A pickle (protocols 0 to 5 as far as weights need them) as a tree of values, read without running any code: a call
/// of one of the few functions that stand for tensors becomes a value; anything else is an Error naming it. The number
/// of steps is limited, so memory is.
class Pickle {
 public:
  /// Reads one pickle from the beginning of `bytes`; `name` is shown in messages.
  Pickle(std::span<const std::byte> bytes, const std::string& name);
  Pickle(const Pickle&) = delete;

  const PickleValue& value() const { return *value_; }
  size_t size() const { return size_; }  ///< bytes that it took

 private:
  friend class PickleMachine;
  std::deque<PickleValue> values_;
  const PickleValue* value_ = nullptr;
  size_t size_ = 0;
};

}  // namespace nmt::convert
