#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "text/string_hash.h"

namespace nmt {

/// Phrases, each with a number, by their words: found in a text by as many steps as the longest of them has words
/// there, however many there are.
class PhraseTrie {
 public:
  /// The number of the phrase if it is here already; it keeps that. words: at least one.
  std::optional<size_t> add(std::span<const std::string_view> words, size_t number);

  struct Found {
    size_t words = 0;  ///< of the phrase; 0: none
    size_t number = 0;
  };
  /// The longest phrase that these words begin with.
  Found longest(std::span<const std::string_view> words) const;

 private:
  using Step = std::pair<int32_t, int32_t>;  // a node and a word
  struct StepHash {
    size_t operator()(const Step& step) const {
      return std::hash<uint64_t>()(static_cast<uint64_t>(step.first) << 32 | static_cast<uint32_t>(step.second));
    }
  };

  std::unordered_map<std::string, int32_t, StringHash, std::equal_to<>> words_;
  std::unordered_map<Step, int32_t, StepHash> steps_;  // to the node after the word; 0 is before the first
  std::unordered_map<int32_t, size_t> numbers_;        // of the nodes where a phrase ends
};

}  // namespace nmt
