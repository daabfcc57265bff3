#pragma once

#include <algorithm>
#include <memory>

#include "search/rules/logits_rule.h"
#include "search/rules/search_options.h"

namespace nmt {

/// No n-gram of SearchOptions::no_repeat_ngram_size tokens comes twice.
class NoRepeatedNgrams final : public LogitsRule {
 public:
  static std::shared_ptr<const LogitsRule> make(const SearchOptions& options) {
    return options.no_repeat_ngram_size > 0 ? std::make_shared<NoRepeatedNgrams>(options.no_repeat_ngram_size)
                                            : nullptr;
  }
  explicit NoRepeatedNgrams(int64_t size) : size_(static_cast<size_t>(size)) {}
  void judge(RowRules& row) const override {
    const std::span<const int32_t> tokens(row.tokens);
    if (tokens.size() < size_) return;
    const auto last = tokens.last(size_ - 1);
    for (size_t start = 0; start + size_ <= tokens.size(); ++start)
      if (std::ranges::equal(tokens.subspan(start, size_ - 1), last)) row.banned.push_back(tokens[start + size_ - 1]);
  }

 private:
  size_t size_;
};

}  // namespace nmt
