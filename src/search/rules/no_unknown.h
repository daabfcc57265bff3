#pragma once

#include <memory>

#include "search/rules/logits_rule.h"
#include "search/rules/search_options.h"
#include "text/tokenizer.h"

namespace nmt {

/// <unk> is never written (SearchOptions::ban_unknown).
class NoUnknown final : public LogitsRule {
 public:
  static std::shared_ptr<const LogitsRule> make(const SearchOptions& options) {
    return options.ban_unknown ? std::make_shared<NoUnknown>() : nullptr;
  }
  void judge(RowRules& row) const override { row.banned.push_back(SpecialIds::kUnknown); }
};

}  // namespace nmt
