#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "search/rules/logits_rule.h"
#include "search/rules/search_options.h"

namespace nmt {

/// The rules of a search.
class LogitsRules {
 public:
  /// Those that the options ask for, then SearchOptions::rules.
  explicit LogitsRules(const SearchOptions& options);

  /// Whether any rule has something to say about translations of this sentence.
  bool concern(const SearchInput& input) const;
  /// The longest that a rule forces.
  std::span<const int32_t> beginning(const SearchInput& input) const;
  /// Fills what the rules say about the token after row.tokens.
  void judge(RowRules& row) const;
  /// Changes the logits of a step; arguments as of RowLogits. Of several models: what change_each() has left to do.
  void change(torch::Tensor& logits, std::span<const RowRules> rows, std::span<const int32_t> columns = {},
              int64_t models = 1) const;
  /// Changes the logits of each of several models, before they are put together; does nothing to those of one.
  void change_each(std::vector<torch::Tensor>& logits, std::span<const RowRules> rows,
                   std::span<const int32_t> columns = {}) const;

 private:
  std::vector<std::shared_ptr<const LogitsRule>> rules_;
};

}  // namespace nmt
