#pragma once

#include "search/rules/logits_rule.h"

namespace nmt {

/// The translation begins with SearchInput::prefix, whose tokens are taken as they are. Where </s> is the last of them,
/// the prefix is the whole translation.
class ForcedPrefix final : public LogitsRule {
 public:
  bool concerns(const SearchInput& input) const override { return !input.prefix.empty(); }
  std::span<const int32_t> beginning(const SearchInput& input) const override { return input.prefix; }
  void judge(RowRules& row) const override {
    const auto& prefix = row.input->prefix;
    if (row.tokens.size() >= prefix.size()) return;
    row.wanted = {prefix[row.tokens.size()]};
    row.only_wanted = true;
  }
};

}  // namespace nmt
