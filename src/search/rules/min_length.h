#pragma once

#include <memory>

#include "search/rules/logits_rule.h"
#include "search/rules/search_options.h"
#include "text/tokenizer.h"

namespace nmt {

/// No </s> before SearchOptions::min_length tokens.
class MinLength final : public LogitsRule {
 public:
  static std::shared_ptr<const LogitsRule> make(const SearchOptions& options) {
    return options.min_length > 0 ? std::make_shared<MinLength>(options.min_length) : nullptr;
  }
  explicit MinLength(int64_t tokens) : tokens_(tokens) {}
  void judge(RowRules& row) const override {
    if (std::ssize(row.tokens) < tokens_) row.banned.push_back(SpecialIds::kEnd);
  }

 private:
  int64_t tokens_;
};

}  // namespace nmt
